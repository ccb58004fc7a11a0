/** A lock between processes that ends with the one that holds it, however that ends: flock(1) of util-linux. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';

/**
 * Runs `work` while nobody else holds the lock on `file`, which is made.
 * @param onWait is called when somebody else holds it
 */
export const withLock = async <T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> => {
  const release =
    (await tryLock(file, ['--nonblock', '--conflict-exit-code', CONFLICT])) ?? (await waitForLock(file, onWait));
  try {
    return await work();
  } finally {
    await release();
  }
};

const waitForLock = async (file: string, onWait: () => void): Promise<() => Promise<void>> => {
  onWait();
  const release = await tryLock(file, []);
  if (release === undefined) throw new SandboxError('ERR_SANDBOX_MACHINE', `${file} could not be locked`);
  return release;
};

/** Of a lock that somebody else has; any other status is a failure. */
const CONFLICT = '75';

/** The lock is held until the end of stdin, which this process holds. Resolves with undefined when somebody else has it. */
const tryLock = async (file: string, options: readonly string[]): Promise<(() => Promise<void>) | undefined> => {
  const child = spawn('flock', [...options, file, 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const complaint = text(child.stderr);
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  const locked = new Promise<'locked'>((resolve) => child.stdout.once('data', () => resolve('locked')));
  const outcome = await Promise.race([locked, ended]).catch((cause: unknown): never => {
    throw new SandboxError('ERR_SANDBOX_MACHINE', `flock of util-linux is needed: ${messageOf(cause)}`, { cause });
  });
  if (outcome === Number(CONFLICT)) return undefined;
  if (outcome !== 'locked') throw new SandboxError('ERR_SANDBOX_MACHINE', (await complaint).trim());
  return async () => {
    child.stdin.destroy();
    await ended;
  };
};
