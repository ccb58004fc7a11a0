export type UplinkErrorCode =
  /** There is no such interface, or none that a default route names. */
  | 'ERR_UPLINK_ABSENT'
  /** It cannot become the port of a bridge. */
  | 'ERR_UPLINK_LINK'
  /** The kernel refused an address or a route on its new link. */
  | 'ERR_UPLINK_KERNEL'
  /** The plan that was written down cannot be read. */
  | 'ERR_UPLINK_RECORD';

/** Why there is no gateway bridge. */
export class UplinkError extends Error {
  override readonly name = 'UplinkError';
  readonly code: UplinkErrorCode;

  constructor(code: UplinkErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
