/**
 * The wire between the shim and the agent, `udn-cni/1` (cni-shim/README.md): one request and one response per
 * connection. What comes in is bounded before it is kept.
 */

export const MAX_STDIN_BYTES = 1 << 20;
export const MAX_ENVIRONMENT_BYTES = 64 << 10;
const MAX_HEADER_BYTES = 64;

export interface ShimRequest {
  /** `CNI_…` variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** The shim runs plugins for the agent. */
  readonly runsPlugins: boolean;
}

/** A request that does not follow the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  /** For the caller, should it be a runtime that was given too much. */
  readonly reason: 'invalidEnvironment' | 'invalidConfig' | 'decodingFailure';

  constructor(message: string, reason: ProtocolError['reason'] = 'decodingFailure') {
    super(message);
    this.reason = reason;
  }
}

/** Collects one request. A value is fed with chunks as they arrive. */
export class RequestReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #frame: Frame | undefined;

  /** @returns the request once it is complete @throws ProtocolError */
  push(chunk: Buffer): ShimRequest | undefined {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#frame ??= this.#header();
    if (this.#frame === undefined || this.#length < this.#frame.end) return undefined;
    if (this.#length > this.#frame.end) throw new ProtocolError('bytes after the end of the request');
    return decode(Buffer.concat(this.#chunks), this.#frame);
  }

  #header(): Frame | undefined {
    const head = Buffer.concat(this.#chunks).subarray(0, MAX_HEADER_BYTES);
    const end = head.indexOf('\n');
    if (end >= 0) return parseHeader(head.toString('latin1', 0, end), end + 1);
    if (head.length < MAX_HEADER_BYTES) return undefined;
    throw new ProtocolError('no header line');
  }
}

export const formatResponse = (exitStatus: number, body: string): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`udn-cni/1 ${exitStatus} ${bytes.length}\n`), bytes]);
};

const RUNS = 'UDN_CNI_RUNS=1';

interface Frame {
  readonly environment: number;
  readonly stdin: number;
  readonly end: number;
}

const parseHeader = (line: string, start: number): Frame => {
  const [, environmentBytes, stdinBytes] = /^udn-cni\/1 ([0-9]{1,7}) ([0-9]{1,7})$/.exec(line) ?? [];
  if (environmentBytes === undefined || stdinBytes === undefined) throw new ProtocolError('not a udn-cni/1 request');
  const [environment, stdin] = [Number(environmentBytes), Number(stdinBytes)];
  if (environment > MAX_ENVIRONMENT_BYTES)
    throw new ProtocolError(
      `environment of ${environment} bytes is too long: CNI_ARGS and the other CNI_… variables may have ${MAX_ENVIRONMENT_BYTES} together`,
      'invalidEnvironment',
    );
  if (stdin > MAX_STDIN_BYTES)
    throw new ProtocolError(
      `network configuration of ${stdin} bytes is too long, it may have ${MAX_STDIN_BYTES}`,
      'invalidConfig',
    );
  return { environment: start, stdin: start + environment, end: start + environment + stdin };
};

const decode = (bytes: Buffer, { environment, stdin, end }: Frame): ShimRequest => {
  const env: Record<string, string> = Object.create(null);
  const entries = bytes.toString('utf8', environment, stdin).split('\0');
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    if (equals > 0 && entry.startsWith('CNI_')) env[entry.slice(0, equals)] = entry.slice(equals + 1);
  }
  return { env, stdin: bytes.toString('utf8', stdin, end), runsPlugins: entries.includes(RUNS) };
};
