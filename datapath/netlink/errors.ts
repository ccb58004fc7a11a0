/** Every error of this package. Codes are listed in docs/errors.md. */
import { getSystemErrorName } from 'node:util';

/** What went wrong outside of the kernel's own answers. */
export type NetlinkFault =
  /** Bytes that are not netlink, or an answer that misses what it must have. */
  | 'ERR_NETLINK_MALFORMED'
  /** The kernel changed the objects during every one of several dumps (NLM_F_DUMP_INTR). */
  | 'ERR_NETLINK_INTERRUPTED'
  /** No answer came although the kernel answers at once. */
  | 'ERR_NETLINK_NO_ANSWER'
  /** The native addon is missing or does not load. */
  | 'ERR_NETLINK_ADDON'
  /** The worker thread is gone. */
  | 'ERR_NETLINK_WORKER';

export interface NetlinkErrorFields {
  readonly errno?: number;
  readonly extAck?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The kernel refused a request, or could not be asked. `code` is the errno's name, for example `EEXIST`, or one of
 * `NetlinkFault`.
 */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
  readonly code: string;
  /** Positive, as in errno(3); 0 when the kernel did not refuse. */
  readonly errno: number;
  /** The kernel's own message (NETLINK_EXT_ACK), for example "Nexthop has invalid gateway". */
  readonly extAck: string | undefined;

  constructor(code: string, message: string, { errno = 0, extAck, cause }: NetlinkErrorFields = {}) {
    super(message, { cause });
    this.code = code;
    this.errno = errno;
    this.extAck = extAck;
  }
}

export const netlinkFault = (code: NetlinkFault, message: string, cause?: unknown): NetlinkError =>
  new NetlinkError(code, message, { cause });

/** @param subject what was asked for, for example `add route 10.0.0.0/8` */
export const kernelError = (subject: string, errno: number, extAck?: string): NetlinkError => {
  const code = errnoName(errno);
  return new NetlinkError(code, `${subject}: ${code}${extAck === undefined ? '' : ` (${extAck})`}`, { errno, extAck });
};

/** An error of the addon or of node:fs, which have `code` and a negative `errno`, as ours. */
export const fromSystemError = (subject: string, error: unknown): unknown => {
  if (error instanceof NetlinkError) return error;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  const errno = 'errno' in error && typeof error.errno === 'number' ? Math.abs(error.errno) : 0;
  return new NetlinkError(error.code, `${subject}: ${error.message}`, { errno, cause: error });
};

export const hasCode = (error: unknown, ...codes: readonly string[]): error is NetlinkError =>
  error instanceof NetlinkError && codes.includes(error.code);

export type PodInterfaceErrorCode =
  /** The desired state contradicts itself. */
  | 'ERR_POD_INTERFACE_INVALID'
  /** A link with a name that we need is there and is not ours. */
  | 'ERR_POD_LINK_FOREIGN'
  /** The pod's network namespace is not there or not a namespace. */
  | 'ERR_POD_NETNS'
  /** The kernel refused a part of it. `cause` is the first NetlinkError. */
  | 'ERR_POD_INTERFACE_SETUP';

export class PodInterfaceError extends Error {
  override readonly name = 'PodInterfaceError';
  readonly code: PodInterfaceErrorCode;

  constructor(code: PodInterfaceErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const errnoName = (errno: number): string => {
  const name = getSystemErrorName(-errno);
  // ENOTSUPP of the kernel itself (524), for example, has no name outside of it.
  return name.startsWith('Unknown') ? `ERRNO_${errno}` : name;
};
