/**
 * Requests over one netlink socket, synchronous: rtnetlink does the work inside of the sender's system call, so nothing is
 * gained by waiting for readiness. It may take long all the same, because rtnl_lock is one for the whole machine; that is
 * why all of this lives in a worker thread.
 */
import { codeOf } from '../../../base/error-code.ts';
import { kernelError, type NetlinkError, netlinkFault } from '../errors.ts';
import { NLM_F } from './constants.ts';
import { type Answer, type Datagram, formatRequest, parseDatagram, type Request } from './message.ts';

/** One socket. `receive` gives one datagram, in a buffer that the next `receive` overwrites. */
export interface DatagramIo {
  send(bytes: Uint8Array): void;
  /** As `send`, on another thread. */
  sendInBackground(bytes: Uint8Array): Promise<void>;
  receive(): Buffer;
}

/** A request and the words for it in an error. */
export interface NamedRequest extends Request {
  readonly subject: string;
}

/** One write may hold this many: their error answers together have to fit the receive buffer of a socket (208 KiB). */
const MAX_REQUESTS_PER_WRITE = 64;
const MAX_BYTES_PER_WRITE = 32 * 1024;
const MAX_DUMP_ATTEMPTS = 5;

export class NetlinkSocket {
  readonly #io: DatagramIo;
  #seq = 0;

  constructor(io: DatagramIo) {
    this.#io = io;
  }

  /**
   * Makes changes, in order. One that fails does not stop the next.
   * @returns for each request the kernel's refusal, or undefined
   */
  change(requests: readonly NamedRequest[]): (NetlinkError | undefined)[] {
    return chunks(requests).flatMap((chunk) => this.#changeChunk(chunk));
  }

  /**
   * Changes of nfnetlink between the messages that begin and end a batch: all or none.
   * @throws NetlinkError with the first refusal; then nothing was changed
   */
  transaction(requests: readonly NamedRequest[], [begin, end]: readonly [NamedRequest, NamedRequest]): void {
    const messages = [begin, ...requests, end];
    const seqs = messages.map(() => this.#nextSeq());
    // The kernel acknowledges after the commit. What ends a batch is not acknowledged by all kernels.
    const last = requests.length;
    const bytes = messages.flatMap((message, index) => {
      const flags = message.flags | NLM_F.REQUEST | (index === last ? NLM_F.ACK : 0);
      return formatRequest({ ...message, flags }, seqs[index] ?? 0);
    });
    this.#io.send(Buffer.concat(bytes));
    let refusal: NetlinkError | undefined;
    for (const answer of this.#answers(seqs, begin.subject)) {
      const index = seqs.indexOf(answer.seq);
      if (answer.kind !== 'end') continue;
      if (answer.errno !== 0) {
        refusal ??= kernelError(messages[index]?.subject ?? '', answer.errno, answer.extAck);
      }
      // A batch that may not even begin is not looked at any further.
      if (index === last || (index === 0 && answer.errno !== 0)) break;
    }
    if (refusal !== undefined) throw refusal;
  }

  /** One object. @throws NetlinkError when the kernel has it not */
  get<T>(request: NamedRequest, decode: (payload: Buffer) => T): T {
    const { seqs, bytes } = this.#format([request], false);
    this.#io.send(bytes);
    for (const answer of this.#answers(seqs, request.subject)) {
      if (answer.kind === 'data') return decode(answer.payload);
      throw kernelError(request.subject, answer.errno, answer.extAck);
    }
    throw noAnswer(request.subject);
  }

  /**
   * All objects of a kind. What changes meanwhile makes the kernel say that the list is not reliable; then it is asked
   * again, some times.
   * @param decode gives undefined for an object that is not desired
   */
  dump<T>(request: NamedRequest, decode: (payload: Buffer) => T | undefined): T[] {
    for (let attempt = 0; attempt < MAX_DUMP_ATTEMPTS; attempt++) {
      const objects = this.#dumpOnce({ ...request, flags: request.flags | NLM_F.DUMP }, decode);
      if (objects !== undefined) return objects;
    }
    throw netlinkFault('ERR_NETLINK_INTERRUPTED', `${request.subject}: changed during each of several readings`);
  }

  /** As `change` with one request, but the thread goes on while the kernel works. Nothing else may use the socket then. */
  async changeInBackground(request: NamedRequest): Promise<NetlinkError | undefined> {
    const { seqs, bytes } = this.#format([request], true);
    await this.#io.sendInBackground(bytes);
    return this.#results([request], seqs)[0];
  }

  #changeChunk(requests: readonly NamedRequest[]): (NetlinkError | undefined)[] {
    const { seqs, bytes } = this.#format(requests, true);
    this.#io.send(bytes);
    return this.#results(requests, seqs);
  }

  /**
   * Only the last request asks for an acknowledgement. The kernel handles them one after the other and reports every
   * refusal, so that when the last one is answered, what was not refused is done.
   */
  #results(requests: readonly NamedRequest[], seqs: readonly number[]): (NetlinkError | undefined)[] {
    const results = new Array<NetlinkError | undefined>(requests.length).fill(undefined);
    const last = seqs.at(-1);
    for (const answer of this.#answers(seqs, requests.at(-1)?.subject ?? '')) {
      const index = seqs.indexOf(answer.seq);
      const subject = requests[index]?.subject;
      if (answer.kind !== 'end' || subject === undefined) continue;
      if (answer.errno !== 0) results[index] = kernelError(subject, answer.errno, answer.extAck);
      if (answer.seq === last) break;
    }
    return results;
  }

  /** Undefined when the objects changed meanwhile. */
  #dumpOnce<T>(request: NamedRequest, decode: (payload: Buffer) => T | undefined): T[] | undefined {
    const { seqs, bytes } = this.#format([request], false);
    this.#io.send(bytes);
    const objects: (T | undefined)[] = [];
    let interrupted = false;
    for (;;) {
      const datagram = this.#receive(request.subject);
      interrupted ||= datagram.interrupted;
      const answers = datagram.answers.filter(({ seq }) => seqs.includes(seq));
      for (const answer of answers) if (answer.kind === 'data') objects.push(decode(answer.payload));
      const end = answers.find((answer) => answer.kind === 'end');
      if (end === undefined) continue;
      if (end.errno !== 0) throw kernelError(request.subject, end.errno, end.extAck);
      return interrupted ? undefined : objects.filter((object) => object !== undefined);
    }
  }

  #format(requests: readonly NamedRequest[], acknowledge: boolean): { seqs: number[]; bytes: Buffer } {
    const seqs = requests.map(() => this.#nextSeq());
    const messages = requests.flatMap((request, index) => {
      const ack = acknowledge && index === requests.length - 1 ? NLM_F.ACK : 0;
      return formatRequest({ ...request, flags: request.flags | NLM_F.REQUEST | ack }, seqs[index] ?? 0);
    });
    return { seqs, bytes: Buffer.concat(messages) };
  }

  /** What answers one of `seqs`. Answers to a request that was given up earlier are dropped. */
  *#answers(seqs: readonly number[], subject: string): Generator<Answer> {
    for (;;) {
      for (const answer of this.#receive(subject).answers) if (seqs.includes(answer.seq)) yield answer;
    }
  }

  #receive(subject: string): Datagram {
    let bytes: Buffer;
    try {
      bytes = this.#io.receive();
    } catch (error) {
      // The socket has a receive timeout.
      if (codeOf(error) === 'EAGAIN') throw noAnswer(subject);
      throw error;
    }
    return parseDatagram(bytes);
  }

  #nextSeq(): number {
    this.#seq = (this.#seq + 1) >>> 0;
    return this.#seq;
  }
}

const noAnswer = (subject: string): NetlinkError =>
  netlinkFault('ERR_NETLINK_NO_ANSWER', `${subject}: the kernel did not answer`);

const chunks = (requests: readonly NamedRequest[]): NamedRequest[][] => {
  const result: NamedRequest[][] = [];
  let bytes = 0;
  for (const request of requests) {
    const current = result.at(-1);
    const size = request.payload.length + 32;
    if (current === undefined || current.length === MAX_REQUESTS_PER_WRITE || bytes + size > MAX_BYTES_PER_WRITE) {
      result.push([request]);
      bytes = size;
    } else {
      current.push(request);
      bytes += size;
    }
  }
  return result;
};
