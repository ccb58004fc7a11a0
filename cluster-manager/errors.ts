/** Stable codes of what the cluster manager can't do. Listed in docs/errors.md. */
export type AllocationErrorCode =
  /** Nothing is left to give. */
  | 'ERR_CM_EXHAUSTED'
  /** Somebody else has what was asked for. */
  | 'ERR_CM_CONFLICT'
  /** Somebody else has the MAC. */
  | 'ERR_CM_MAC_CONFLICT'
  /** What was asked for can't be given by this network. */
  | 'ERR_CM_REQUEST';

/** `message` is a message for the user whose pod, node or network it is about. */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';
  readonly code: AllocationErrorCode;

  constructor(code: AllocationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
