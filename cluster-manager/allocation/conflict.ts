import { NetError } from '../../net/errors.ts';

/** True when an allocator refused because somebody else has it. */
export const isConflict = (error: unknown): error is NetError =>
  error instanceof NetError && error.code === 'ERR_NET_CONFLICT';
