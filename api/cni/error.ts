/** Errors as the container runtime reads them on standard output (SPEC.md, section 5, "Error"). */
import { messageOf } from '../../base/error-message.ts';
import { ApiError } from '../errors.ts';

/** Codes below 100 are the specification's, the others ours. */
export const CNI_ERROR_CODES = {
  incompatibleVersion: 1,
  unsupportedField: 2,
  unknownContainer: 3,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodingFailure: 6,
  invalidConfig: 7,
  tryAgainLater: 11,
  /** As many calls are under way as may be. */
  busy: 11,
  /** ovn-controller has not installed the ports in time. */
  notInstalled: 11,
  /** nftables does not isolate the pod in time. */
  notIsolated: 11,
  pluginNotAvailable: 50,
  limitedConnectivity: 51,
  /** The pod's network does not exist, or is in an error. */
  networkNotReady: 101,
  /** The pod was replaced while the request was under way. */
  podGone: 102,
  /** A plugin of another network has failed, or cannot be run. */
  foreignPlugin: 103,
  /** Something that was expected to work did not; the message says what. */
  internal: 199,
} as const;

export type CniErrorReason = keyof typeof CNI_ERROR_CODES;

export interface CniErrorDetails {
  /** What to do about it, or what exactly was wrong. */
  readonly details?: string;
  readonly field?: string;
  readonly cause?: unknown;
}

export class CniError extends ApiError {
  readonly reason: CniErrorReason;
  readonly details: string;

  constructor(reason: CniErrorReason, message: string, { details = '', field = '', cause }: CniErrorDetails = {}) {
    super('ERR_API_CNI', message, { object: 'CNI request', field, cause });
    this.reason = reason;
    this.details = details;
  }

  get cniCode(): number {
    return CNI_ERROR_CODES[this.reason];
  }
}

/** The JSON that the runtime reads. Anything that is no CniError is an internal error with its message. */
export const formatCniError = (error: unknown, cniVersion: string): string => {
  const known = error instanceof CniError ? error : undefined;
  return JSON.stringify({
    cniVersion,
    code: known?.cniCode ?? CNI_ERROR_CODES.internal,
    msg: messageOf(error),
    ...(known?.details === undefined || known.details === '' ? {} : { details: known.details }),
  });
};
