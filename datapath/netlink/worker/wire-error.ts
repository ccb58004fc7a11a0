/** Errors across threads: the structured clone of an error keeps neither its class nor its fields. */
import { messageOf } from '../../../base/error-message.ts';
import { NetlinkError, PodInterfaceError, type PodInterfaceErrorCode } from '../errors.ts';

export type WireError =
  | {
      readonly kind: 'netlink';
      readonly code: string;
      readonly message: string;
      readonly errno: number;
      readonly extAck: string | undefined;
    }
  | {
      readonly kind: 'pod';
      readonly code: PodInterfaceErrorCode;
      readonly message: string;
      readonly cause: WireError | undefined;
    }
  | { readonly kind: 'other'; readonly message: string; readonly stack: string | undefined };

export const toWireError = (error: unknown): WireError => {
  if (error instanceof NetlinkError) {
    const { code, message, errno, extAck } = error;
    return { kind: 'netlink', code, message, errno, extAck };
  }
  if (error instanceof PodInterfaceError) {
    const { code, message, cause } = error;
    return { kind: 'pod', code, message, cause: cause === undefined ? undefined : toWireError(cause) };
  }
  return { kind: 'other', message: messageOf(error), stack: error instanceof Error ? error.stack : undefined };
};

export const fromWireError = (wire: WireError): Error => {
  switch (wire.kind) {
    case 'netlink':
      return new NetlinkError(wire.code, wire.message, { errno: wire.errno, extAck: wire.extAck });
    case 'pod':
      return new PodInterfaceError(wire.code, wire.message, wire.cause && fromWireError(wire.cause));
    case 'other':
      return Object.assign(new Error(wire.message), wire.stack === undefined ? {} : { stack: wire.stack });
  }
};
