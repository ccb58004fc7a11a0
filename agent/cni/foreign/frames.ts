/** The frames by which the agent has the shim run a plugin (cni-shim/README.md). Pure. */
import { MAX_STDIN_BYTES, ProtocolError } from '../protocol.ts';
import { ENDINGS, type PluginCall, type PluginOutcome } from './plugin-host.ts';

/** @throws ProtocolError when it is longer than the shim takes */
export const formatRun = ({ type, env, stdin }: PluginCall, milliseconds: number): Buffer => {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const environment = Buffer.from([type, ...variables].map((text) => `${text}\0`).join(''));
  const input = Buffer.from(stdin);
  if (environment.length + input.length > MAX_STDIN_BYTES)
    throw new ProtocolError(`plugin ${type}: its configuration of ${input.length} bytes is too long`, 'invalidConfig');
  const header = `udn-cni/1 run ${milliseconds} ${environment.length} ${input.length}\n`;
  return Buffer.concat([Buffer.from(header), environment, input]);
};

const MAX_HEADER_BYTES = 64;

/** Collects one answer of the shim. */
export class OutcomeReader {
  #bytes = Buffer.alloc(0);

  /** @returns the outcome once it is complete @throws ProtocolError */
  push(chunk: Buffer): PluginOutcome | undefined {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const end = this.#bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\n');
    if (end < 0 && this.#bytes.length < MAX_HEADER_BYTES) return undefined;
    const { how, number, length } = parseHeader(this.#bytes.toString('latin1', 0, Math.max(end, 0)));
    const present = this.#bytes.length - end - 1;
    if (present < length) return undefined;
    if (present > length) throw new ProtocolError('bytes after the end of a plugin’s result');
    return { how, number, stdout: this.#bytes.toString('utf8', end + 1) };
  }
}

const parseHeader = (line: string): Pick<PluginOutcome, 'how' | 'number'> & { readonly length: number } => {
  const [, how, number, bytes] = /^udn-cni\/1 ran ([a-z]+) ([0-9]{1,4}) ([0-9]{1,7})$/.exec(line) ?? [];
  const ending = ENDINGS.find((one) => one === how);
  const length = Number(bytes);
  if (ending === undefined || !(length <= MAX_STDIN_BYTES)) throw new ProtocolError('not the result of a plugin');
  return { how: ending, number: Number(number), length };
};
