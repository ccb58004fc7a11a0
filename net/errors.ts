/** Stable codes of everything that `net` refuses. Listed in docs/errors.md. */
export type NetErrorCode =
  | 'ERR_NET_IP'
  | 'ERR_NET_CIDR'
  | 'ERR_NET_HOST_BITS'
  | 'ERR_NET_MAC'
  | 'ERR_NET_DOMAIN'
  | 'ERR_NET_PORT'
  | 'ERR_NET_ID'
  | 'ERR_NET_RANGE'
  | 'ERR_NET_EXHAUSTED'
  | 'ERR_NET_CONFLICT';

/** A value that is not what its type says. `input` is the text or number as it was given. */
export class NetError extends Error {
  override readonly name = 'NetError';
  readonly code: NetErrorCode;
  readonly input: string;

  constructor(code: NetErrorCode, message: string, input: string) {
    super(message);
    this.code = code;
    this.input = input;
  }
}

/** True when something is somebody else's. */
export const isConflict = (error: unknown): error is NetError =>
  error instanceof NetError && error.code === 'ERR_NET_CONFLICT';

/** True when an allocator had nothing left to give. */
export const isExhausted = (error: unknown): error is NetError =>
  error instanceof NetError && error.code === 'ERR_NET_EXHAUSTED';
