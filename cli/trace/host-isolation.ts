/**
 * What the host's own packets meet before they come to Open vSwitch: the chains of host isolation (see
 * docs/host-isolation.md), as they are in the kernel. Pure.
 */
import { managementLinkName } from '../../agent/model/host-names.ts';
import { NFT_CHAINS, NFT_SETS, setName } from '../../agent/model/registry/nftables.ts';
import { MANAGEMENT_LINK_PREFIX } from '../../api/vrf.ts';
import { elementForm } from '../../datapath/nftables/element-form.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import { DEFAULT_NETWORK_ID } from '../../net/ids.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import type { Protocol } from './packet.ts';

export interface HostPacket {
  readonly destination: Ip;
  readonly protocol: Protocol;
  readonly port: number;
  /** The link that it leaves the host by. */
  readonly link: string | undefined;
  /** Of a connection that conntrack knows. */
  readonly established: boolean;
}

export type HostResult =
  | { readonly kind: 'passes'; readonly why?: string }
  | { readonly kind: 'dropped'; readonly message: string };

/** @param table ours; undefined: there is none, and nothing is isolated */
export const hostIsolationOf = (table: TableState | undefined, packet: HostPacket): HostResult => {
  if (table === undefined) return { kind: 'passes' };
  const byAddress = addressIsolation(table, packet);
  return byAddress.kind === 'dropped' ? byAddress : (managementIsolation(table, packet) ?? byAddress);
};

const addressIsolation = (table: TableState, packet: HostPacket): HostResult => {
  const { destination, protocol, port } = packet;
  const family = ipFamily(destination);
  const isolated = setName('isolatedPods', family);
  const rules = rulesOf(table, NFT_CHAINS.isolation.name);
  const isDropped = rules.some((rule) => rule.includes(`@${isolated} `) && rule.endsWith(' drop'));
  if (!isDropped || !has(table, isolated, destination)) return { kind: 'passes' };
  if (isOpen(table, rules, packet, family)) {
    const what = protocol === 'icmp' ? 'ping' : `${protocol} port ${port}`;
    return { kind: 'passes', why: `host isolation accepts it: ${what} is open on the pod` };
  }
  const kubelet = rulesOf(table, NFT_CHAINS.isolationKubelet.name).some((rule) => rule.startsWith('socket cgroupv2 '));
  const unless = kubelet ? ' unless the kubelet sends it' : ', from any process: the cgroup of the kubelet is unknown';
  return dropped(NFT_CHAINS.isolation.name, unless);
};

const isOpen = (
  table: TableState,
  rules: readonly string[],
  { destination, protocol, port }: HostPacket,
  family: Family,
): boolean => {
  const [set, key] =
    protocol === 'icmp'
      ? [setName('openIcmp', family), destination]
      : [setName('openPorts', family), `${destination} . ${protocol} . ${port}`];
  return rules.some((rule) => rule.includes(`@${set} accept`)) && has(table, set, key);
};

/** By the link of a network: only its host-network pods, whose cgroups are elements. */
const managementIsolation = (table: TableState, { link, established }: HostPacket): HostResult | undefined => {
  const chain = NFT_CHAINS.managementIsolation.name;
  const isDropped = rulesOf(table, chain).some((rule) => rule.endsWith(' drop'));
  if (!isDropped || !isTenants(link)) return undefined;
  const pods = [...(table.sets.get(NFT_SETS.hostPods.name)?.elements ?? [])]
    .filter(([key]) => key.endsWith(` . "${link}"`))
    .flatMap(([, { comment }]) => comment?.split(' ')[0] ?? []);
  const senders = [
    ...(pods.length === 0 ? [] : [`one of these host-network pods sends it: ${[...new Set(pods)].sort().join(', ')}`]),
    ...(established ? ['it is a reply'] : []),
  ];
  return dropped(chain, senders.length === 0 ? ', from any process' : ` unless ${senders.join(', or ')}`);
};

const isTenants = (link: string | undefined): boolean =>
  link?.startsWith(MANAGEMENT_LINK_PREFIX) === true && link !== managementLinkName(DEFAULT_NETWORK_ID);

const dropped = (chain: string, unless: string): HostResult => ({
  kind: 'dropped',
  message: `dropped by host isolation (nft chain ${chain})${unless}`,
});

const rulesOf = (table: TableState, chain: string): readonly string[] => table.chains.get(chain)?.rules ?? [];

const has = (table: TableState, set: string, key: string): boolean => {
  const found = table.sets.get(set);
  if (found === undefined) return false;
  const type = found.header.find((line) => line.startsWith('type '))?.slice('type '.length) ?? '';
  return found.elements.has(elementForm(type, key));
};
