/** A program that a test waits for, whatever comes of it. */
import { execFile } from 'node:child_process';

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>;
  /** For its standard input. */
  readonly input?: string | undefined;
  /** It is ended then, and `stderr` says so. Default: 30 s, before the test is, which would say nothing of the program. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 30_000;

export const attemptProgram = (
  file: string,
  args: readonly string[],
  { env, input = '', timeoutMs = TIMEOUT_MS }: ProgramOptions,
): Promise<ProgramResult> =>
  new Promise((resolve) => {
    const options = { env, timeout: timeoutMs, maxBuffer: 64 << 20 };
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const isOwn = error === null || typeof error.code === 'number';
      const why = error?.killed === true ? `ended after ${timeoutMs / 1000} s\n` : isOwn ? '' : `${error.message}\n`;
      resolve({ code, stdout, stderr: `${why}${stderr}` });
    });
    // One that does not read it all says itself what it lacks.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });

/** @throws Error with the error output when it failed */
export const printed = (name: string, { code, stdout, stderr }: ProgramResult): string => {
  if (code !== 0) throw new Error(`${name} failed with ${code}: ${stderr}`);
  return stdout;
};
