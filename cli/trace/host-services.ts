/**
 * What nftables make of what the host's own processes send to node ports and external addresses: it goes to the ClusterIP, with
 * the mark of the Service's network. The maps are read as they are in the kernel. Pure.
 */
import { NFT_SETS, setName } from '../../agent/model/registry/nftables.ts';
import { elementForm } from '../../datapath/nftables/element-form.ts';
import type { ElementState, TableState } from '../../datapath/nftables/table-state.ts';
import { type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { Protocol } from './packet.ts';

export interface HostTarget {
  readonly ip: Ip;
  readonly port: number;
  /** Packet mark, by which the host routes it; 0: none. */
  readonly mark: number;
}

interface Asked {
  readonly destination: Ip;
  readonly protocol: Protocol;
  readonly port: number;
}

/** Undefined: it is of no Service, and goes where it is sent. */
export const hostTargetOf = (table: TableState | undefined, asked: Asked): HostTarget | undefined => {
  if (table === undefined || asked.protocol === 'icmp') return undefined;
  const { destination, protocol, port } = asked;
  const family = ipFamily(destination);
  const external = `${destination} . ${protocol} . ${port}`;
  const found = elementOf(table, setName('externalIps', family), external);
  if (found !== undefined) {
    return targetOf(table, found, elementOf(table, setName('markExternalIps', family), external));
  }
  if (elementOf(table, setName('nodePortIps', family), destination) === undefined) return undefined;
  const nodePort = `${protocol} . ${port}`;
  const to = elementOf(table, setName('nodePorts', family), nodePort);
  return to && targetOf(table, to, elementOf(table, NFT_SETS.markNodePorts.name, nodePort));
};

const targetOf = (
  table: TableState,
  { value = '' }: ElementState,
  result: ElementState | undefined,
): HostTarget | undefined => {
  const [ip = '', port = ''] = value.split(' . ');
  const chain = /^(?:jump|goto) (\S+)$/.exec(result?.value ?? '')?.[1];
  const rules = chain === undefined ? [] : (table.chains.get(chain)?.rules ?? []);
  const mark = rules.flatMap((rule) => /^meta mark set (\S+)/.exec(rule)?.[1] ?? [])[0];
  return { ip: parseIp(ip), port: Number(port), mark: Number(mark ?? 0) };
};

const elementOf = (table: TableState, set: string, key: string): ElementState | undefined => {
  const found = table.sets.get(set);
  const type = found?.header.find((line) => line.startsWith('type '))?.slice('type '.length) ?? '';
  return found?.elements.get(elementForm(type.split(' : ')[0] ?? '', key));
};
