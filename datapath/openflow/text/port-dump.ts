/** Output of `ovs-ofctl --no-names dump-ports-desc` and of `show`. */
import { syntaxError } from '../errors.ts';
import { printedNumber } from './flow.ts';
import { linesOf } from './flow-dump.ts';

export interface PortState {
  /** Undefined for the port of the bridge itself and for others that have a name instead of a number. */
  readonly number: number | undefined;
  /** Cut at 15 characters. */
  readonly name: string;
  readonly noFlood: boolean;
}

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const parsePorts = (output: string): PortState[] => {
  const ports: { number: number | undefined; name: string; noFlood?: boolean }[] = [];
  for (const line of linesOf(output)) {
    const [, id, name] = /^ ([0-9]+|[A-Z_]+)\((.*)\): addr:/.exec(line) ?? [];
    if (id !== undefined && name !== undefined) {
      ports.push({ number: /^[0-9]/.test(id) ? printedNumber(id, 0xffff_ffff) : undefined, name });
      continue;
    }
    const config = /^ {5}config: {5}([A-Z_0-9a-fx ]+)$/.exec(line)?.[1];
    const port = ports.at(-1);
    if (config !== undefined && port !== undefined) port.noFlood = config.split(' ').includes('NO_FLOOD');
  }
  return ports.map(({ number, name, noFlood }) => {
    if (noFlood === undefined) throw syntaxError('a port with its config', name);
    return { number, name, noFlood };
  });
};
