/** Starting parts so that a failure says which one it was and what it last wrote. */
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';
import { logTail } from './log-tail.ts';
import type { Service } from './service.ts';

/** Rejects with a message about the part, and the end of its log, when `work` fails. */
export const partReady = async <T>(name: string, log: string | undefined, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SandboxError && error.code === 'ERR_SANDBOX_PART') throw error;
    const reason = error instanceof DOMException && error.name === 'TimeoutError' ? 'timed out' : messageOf(error);
    throw new SandboxError('ERR_SANDBOX_PART', `${name} is not ready: ${reason}${await excerpt(log)}`, {
      cause: error,
    });
  }
};

/** Rejects when the service ends before `work` is done. */
export const unlessEnded = <T>(service: Service, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    service.firstEnd.then((how): never => {
      throw new SandboxError('ERR_SANDBOX_MACHINE', `it ended with ${how}`);
    }),
  ]);

const excerpt = async (log: string | undefined): Promise<string> => {
  const tail = log === undefined ? '' : await logTail(log);
  return tail === '' ? '' : `\n--- the end of ${log}\n${tail}`;
};
