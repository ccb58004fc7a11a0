/** One question to one server, by UDP or by TCP (RFC 1035, section 4.2; RFC 7766). */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { ipFamily } from '../../net/ip.ts';
import { type DnsQuestion, type DnsReply, encodeQuestion, readReply } from './message.ts';
import type { DnsServer } from './servers.ts';

export type ExchangeResult =
  | Exclude<DnsReply, { readonly kind: 'foreign' | 'recased' }>
  /** No answer that can be trusted came by UDP; by TCP nobody else can answer. */
  | { readonly kind: 'doubtful' }
  | { readonly kind: 'silent'; readonly why: string };

/** It never rejects. Ends at once when the signal aborts. */
export type Exchange = (server: DnsServer, question: DnsQuestion, signal: AbortSignal) => Promise<ExchangeResult>;

/**
 * Each question has a socket of its own, whose port the kernel chooses at random, and which takes packets of the server only. Answers that do
 * not belong to it are dropped: somebody guesses, and after a few of them UDP is not asked any further.
 */
export const askByUdp =
  (clock: Clock): Exchange =>
  ({ ip, port }, question, signal) =>
    raced(clock, UDP_MS, signal, (end, isOver) => {
      const socket = createSocket(ipFamily(ip) === 4 ? 'udp4' : 'udp6');
      let wrong = 0;
      socket.on('message', (bytes) => {
        const reply = readReply(bytes, question);
        if (reply.kind === 'recased') end({ kind: 'doubtful' });
        else if (reply.kind !== 'foreign') end(reply);
        else if (++wrong >= MAX_WRONG) end({ kind: 'doubtful' });
      });
      socket.on('error', (error) => end({ kind: 'silent', why: messageOf(error) }));
      // Where connect(2) fails at once, for example without a route, the callback gets its error, and the socket emits none.
      socket.connect(port, ip, (error?: Error) => {
        if (error) end({ kind: 'silent', why: messageOf(error) });
        // Whoever withdraws the question closes the socket, which may be after it was connected and before this.
        else if (!isOver()) socket.send(encodeQuestion(question));
      });
      return () => socket.close();
    });

export const askByTcp =
  (clock: Clock): Exchange =>
  ({ ip, port }, question, signal) =>
    raced(clock, TCP_MS, signal, (end) => {
      const socket = connect({ host: ip, port });
      let received = Buffer.alloc(0);
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes]);
        if (received.length < 2) return;
        const length = received.readUInt16BE();
        if (received.length < length + 2) return;
        const reply = readReply(received.subarray(2, length + 2), question, true);
        if (reply.kind === 'foreign' || reply.kind === 'recased' || reply.kind === 'truncated')
          end({ kind: 'silent', why: 'its answer cannot be read' });
        else end(reply);
      });
      socket.on('error', (error) => end({ kind: 'silent', why: messageOf(error) }));
      socket.on('close', () => end({ kind: 'silent', why: 'the connection was closed' }));
      const message = encodeQuestion(question);
      socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message]));
      return () => socket.destroy();
    });

/** @param start begins to ask, and returns what closes its socket. Once `isOver`, that has been closed */
const raced = (
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  start: (end: (result: ExchangeResult) => void, isOver: () => boolean) => () => void,
): Promise<ExchangeResult> =>
  new Promise((resolve) => {
    let close: (() => void) | undefined;
    let stopListening = (): void => undefined;
    let result: ExchangeResult | undefined;
    const end = (given: ExchangeResult): void => {
      if (result !== undefined) return;
      result = given;
      cancel();
      stopListening();
      close?.();
      resolve(given);
    };
    const cancel = clock.schedule(milliseconds, () =>
      end({ kind: 'silent', why: `no answer within ${milliseconds / 1000} s` }),
    );
    try {
      close = start(end, () => result !== undefined);
      if (result !== undefined) close();
    } catch (error) {
      // No socket: no descriptors are left, or no server can have such an address.
      end({ kind: 'silent', why: messageOf(error) });
    }
    stopListening = onAbort(signal, () => end({ kind: 'silent', why: 'the question was withdrawn' }));
    if (result !== undefined) stopListening();
  });

const UDP_MS = 2_000;
const TCP_MS = 4_000;
const MAX_WRONG = 8;
