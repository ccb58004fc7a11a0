/** The ports of all bridges, as `ovs-appctl dpif/show` lists them. */
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { vswitchdControl } from '../../datapath/exec/vswitchd-control.ts';
import { CliError } from '../errors.ts';

export interface BridgePort {
  readonly bridge: string;
  readonly name: string;
  readonly ofport: number;
  /** The number that datapath actions have; a patch port has none, tunnels of one kind share one. */
  readonly datapathPort: number | undefined;
  /** `system`, `patch`, `geneve`, `internal`, `tap` */
  readonly type: string;
  /** Of a patch port. */
  readonly peer: string | undefined;
  /** Of a tunnel. */
  readonly remoteIp: string | undefined;
}

/** @throws CommandError, CliError */
export const readPorts = async (runner: Pick<CommandRunner, 'run'>): Promise<readonly BridgePort[]> =>
  parseDatapathPorts(
    (await runner.run({ file: 'ovs-appctl', args: [...(await vswitchdControl()), 'dpif/show'] })).stdout,
  );

/** @throws CliError for a line that is none of it */
export const parseDatapathPorts = (output: string): readonly BridgePort[] => {
  const ports: BridgePort[] = [];
  let bridge: string | undefined;
  for (const line of output.split('\n')) {
    if (line === '' || /^\S+@\S+: hit:/.test(line)) continue;
    const name = /^ {2}(\S+):$/.exec(line)?.[1];
    if (name === undefined) ports.push(readPort(line, bridge));
    else bridge = name;
  }
  return ports;
};

const readPort = (line: string, bridge: string | undefined): BridgePort => {
  const found = /^ {4}(\S+) ([0-9]+)\/([0-9]+|none): \(([a-z0-9]+)(?:: (.*))?\)$/.exec(line);
  if (found === null || bridge === undefined) {
    throw new CliError(`a line of dpif/show cannot be parsed: ${JSON.stringify(line.slice(0, 100))}`);
  }
  const [, name = '', ofport, datapathPort = '', type = '', options = ''] = found;
  const option = (key: string): string | undefined =>
    options
      .split(', ')
      .find((one) => one.startsWith(`${key}=`))
      ?.slice(key.length + 1);
  return {
    bridge,
    name,
    ofport: Number(ofport),
    datapathPort: datapathPort === 'none' ? undefined : Number(datapathPort),
    type,
    peer: option('peer'),
    remoteIp: option('remote_ip'),
  };
};
