import { messageOf } from '../../base/error-message.ts';
import type { Command } from './types.ts';

/** Stable codes of failed commands. Listed in docs/errors.md. */
export type CommandErrorCode =
  /** The program ended with a status other than 0. */
  | 'ERR_EXEC_EXIT'
  /** There is no such program. */
  | 'ERR_EXEC_NOT_FOUND'
  /** The system refused to start it, for example EACCES or E2BIG. */
  | 'ERR_EXEC_SPAWN'
  /** A signal ended it that was not ours. */
  | 'ERR_EXEC_SIGNAL'
  | 'ERR_EXEC_TIMEOUT'
  | 'ERR_EXEC_ABORTED'
  | 'ERR_EXEC_OUTPUT_LIMIT';

export interface CommandErrorFields {
  readonly code: CommandErrorCode;
  readonly command: Command;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly cause?: unknown;
}

/** A command that did not do its work. The message has the command line and the end of what it wrote to stderr. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  /** The command line for people, not to be executed. */
  readonly command: string;
  /** The exit status; undefined when the program did not start or did not exit by itself. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;

  constructor({ code, command, exitCode, signal, stdout = '', stderr = '', cause }: CommandErrorFields) {
    const line = commandLine(command);
    super(messageFor(code, line, { exitCode, signal, stderr, cause }), { cause });
    this.code = code;
    this.command = line;
    this.exitCode = exitCode;
    this.signal = signal;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** The end of what a program wrote, where programs say what went wrong. */
export const tail = (text: string, maxLength = 2000): string => {
  const trimmed = text.trimEnd();
  return trimmed.length <= maxLength ? trimmed : `…${trimmed.slice(-maxLength)}`;
};

/** Arguments with anything but plain characters are quoted, long ones are cut. */
export const commandLine = ({ file, args }: Command): string =>
  [file, ...args].map((word) => quoted(word.length > 200 ? `${word.slice(0, 200)}…` : word)).join(' ');

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));

const messageFor = (
  code: CommandErrorCode,
  line: string,
  { exitCode, signal, stderr, cause }: Pick<CommandErrorFields, 'exitCode' | 'signal' | 'cause'> & { stderr: string },
): string => {
  const what = {
    ERR_EXEC_EXIT: `exited with status ${exitCode}`,
    ERR_EXEC_NOT_FOUND: 'was not found',
    ERR_EXEC_SPAWN: `could not be started: ${messageOf(cause)}`,
    ERR_EXEC_SIGNAL: `was ended by ${signal}`,
    ERR_EXEC_TIMEOUT: 'took too long and was ended',
    ERR_EXEC_ABORTED: 'was aborted',
    ERR_EXEC_OUTPUT_LIMIT: 'wrote more than allowed and was ended',
  }[code];
  const lastLines = tail(stderr, 1000);
  return `\`${line}\` ${what}${lastLines === '' ? '' : `: ${lastLines}`}`;
};
