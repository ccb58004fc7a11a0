/** What becomes of what a process of the host sends before it comes to Open vSwitch: by nftables and the host's routes. */
import { networkPacketMark } from '../../agent/model/registry/marks.ts';
import { messageOf } from '../../base/error-message.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { ipFamily, isIp, parseIp } from '../../net/ip.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { type HostTarget, hostTargetOf } from './host-services.ts';
import type { Packet } from './packet.ts';

/** Where it goes to, an address or a pod. */
export interface Sent extends Pick<Packet, 'port' | 'protocol' | 'mark'> {
  readonly to: string;
}

export interface HostWay {
  /** Our table of nftables; undefined when there is none. */
  readonly table: TableState | undefined;
  /** Why the table could not be read. */
  readonly unread?: string;
  /** With what nftables have made of it. */
  readonly sent: Sent;
  /** What that is, a message without a full stop. */
  readonly why?: string;
  /** Why it does not come to Open vSwitch. */
  readonly stop?: string;
}

export interface HostWaySources {
  readonly agent: Pick<AgentClient, 'networks'>;
  readonly runner: Pick<CommandRunner, 'run'>;
  readonly hostTable: () => Promise<TableState | undefined>;
}

export const hostWay = async (sources: HostWaySources, sent: Sent): Promise<HostWay> => {
  const { to, port, protocol } = sent;
  let table: TableState | undefined;
  try {
    table = await sources.hostTable();
  } catch (error) {
    return { table, sent, unread: messageOf(error) };
  }
  const target = isIp(to) ? hostTargetOf(table, { destination: parseIp(to), protocol, port }) : undefined;
  if (target === undefined) return { table, sent };
  const why = `nftables translate ${withPort(to, port)}/${protocol} to ${withPort(target.ip, target.port)}`;
  const stop = await unrouted(sources, target);
  return {
    ...{ table, why, sent: { to: target.ip, port: target.port, protocol, mark: target.mark } },
    ...(stop !== undefined && { stop: `not answered: ${why}, ${stop}` }),
  };
};

const withPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** By the mark of a primary network, its VRF's table leads to the gateway bridge. Undefined: nothing is in the way. */
const unrouted = async ({ agent, runner }: HostWaySources, { ip, mark }: HostTarget): Promise<string | undefined> => {
  const network = (await agent.networks()).find(({ id }) => networkPacketMark(parseNetworkId(id)) === mark);
  if (network === undefined || network.role === 'default') return undefined;
  const word = `0x${mark.toString(16)}`;
  const args = [`-${ipFamily(ip)}`, 'rule', 'show', 'fwmark', word];
  const { stdout } = await runner.run({ file: 'ip', args });
  return stdout.trim() === ''
    ? `with mark ${word}, but this host has no rule for it to the VRF of network ${network.name}`
    : undefined;
};
