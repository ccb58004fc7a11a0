/** Framing: requests to bytes, datagrams to answers (netlink(7), Documentation/userspace-api/netlink/intro.rst). */
import { netlinkFault } from '../errors.ts';
import { readAttributes, readText } from './attributes.ts';
import { formatMessage, type Message, parseMessages, readU32 } from './codec.ts';
import { NLM_F, NLMSG, NLMSGERR_ATTR_MSG } from './constants.ts';

export interface Request {
  readonly type: number;
  /** Without REQUEST and ACK, which the socket adds. */
  readonly flags: number;
  readonly payload: Uint8Array;
}

export type Answer =
  | { readonly kind: 'data'; readonly seq: number; readonly type: number; readonly payload: Buffer }
  | {
      /** Errno 0: success, or the end of a dump. */
      readonly kind: 'end';
      readonly seq: number;
      readonly errno: number;
      readonly extAck: string | undefined;
    };

export interface Datagram {
  readonly answers: readonly Answer[];
  /** The objects changed while the kernel was listing them, so the list may lack some. */
  readonly interrupted: boolean;
}

export const formatRequest = ({ type, flags, payload }: Request, seq: number): Uint8Array[] =>
  formatMessage(type, flags, seq, payload);

/** @throws NetlinkError ERR_NETLINK_MALFORMED */
export const parseDatagram = (bytes: Buffer): Datagram => {
  let interrupted = false;
  const answers: Answer[] = [];
  for (const message of parseMessageBytes(bytes)) {
    if ((message.flags & NLM_F.DUMP_INTR) !== 0) interrupted = true;
    const answer = toAnswer(message);
    if (answer !== undefined) answers.push(answer);
  }
  return { answers, interrupted };
};

/** @throws NetlinkError ERR_NETLINK_MALFORMED */
export const parseMessageBytes = (bytes: Buffer): Message[] => {
  try {
    return parseMessages(bytes);
  } catch (cause) {
    throw netlinkFault('ERR_NETLINK_MALFORMED', 'not a netlink message', cause);
  }
};

const toAnswer = ({ type, flags, seq, data }: Message): Answer | undefined => {
  if (type === NLMSG.NOOP || type === NLMSG.OVERRUN) return undefined;
  if (type === NLMSG.ERROR) return endOf(seq, data, flags, refusedLength(data, flags));
  if (type === NLMSG.DONE) return endOf(seq, data, flags, 0);
  return { kind: 'data', seq, type, payload: data };
};

/** `struct nlmsgerr`, and the errno that ends a dump: both may have an explanation after `skipped` bytes. */
const endOf = (seq: number, data: Buffer, flags: number, skipped: number): Answer => {
  // A DONE of old kernels may be empty.
  const errno = data.length < 4 ? 0 : 0 - (readU32(data, 0) | 0);
  const explained = (flags & NLM_F.ACK_TLVS) !== 0 && data.length > 4 + skipped;
  const extAck = explained ? readText(readAttributes(data.subarray(4 + skipped)), NLMSGERR_ATTR_MSG) : undefined;
  return { kind: 'end', seq, errno, extAck };
};

/** How many bytes of the refused request the error repeats. */
const refusedLength = (data: Buffer, flags: number): number => {
  if (data.length < 4 + HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a netlink error is cut off');
  const whole = readU32(data, 4);
  return (flags & NLM_F.CAPPED) !== 0 ? HEADER_LENGTH : Math.ceil(whole / 4) * 4;
};

const HEADER_LENGTH = 16;
