/** Failures that say nothing about the request, which may be sent once more. */
import type { KubeError } from '../errors.ts';

/**
 * `lost`: a connection that had been used before was closed. Whether the server got the request is not known: it may close an idle
 * connection just when that is used again. `refused`: the server says that it has done nothing (RFC 9113 §8.7).
 */
export type Repeat = 'lost' | 'refused';

export class StaleConnection extends Error {
  readonly failure: KubeError;
  readonly repeat: Repeat;

  constructor(failure: KubeError, repeat: Repeat) {
    super('a reused connection was closed');
    this.failure = failure;
    this.repeat = repeat;
  }
}

/** Methods that may be sent again when it is not known whether the server got them (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export const replacingStale = async <T>(method: string, exchange: () => Promise<T>): Promise<T> => {
  try {
    return await exchange();
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    if (error.repeat === 'lost' && !IDEMPOTENT.has(method)) throw error.failure;
    return await exchange().catch((again) => {
      throw again instanceof StaleConnection ? again.failure : again;
    });
  }
};
