/**
 * Localnets that are one wire on this node, though their physical networks have different names: both are mapped to one bridge. The cluster
 * manager compares names, as bridges are each node's own, and gives both the same addresses where their subnets overlap.
 */
import { cidrsOverlap } from '../../net/cidr.ts';
import type { Problem } from '../inputs/problem.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { NetworkFact } from '../model/facts.ts';

export const problemsOfWires = (node: string, facts: Pick<FactStore, 'get' | 'ids'>): Problem[] => {
  const bridges = new Map(
    [...facts.ids('physicalBridge')].map((name) => [name, facts.get('physicalBridge', name) ?? '']),
  );
  // Mostly each has its own, and no network is looked at.
  if (new Set(bridges.values()).size === bridges.size) return [];
  const localnets = [...facts.ids('network')].flatMap((name): Localnet[] => {
    const network = facts.get('network', name);
    const bridge = bridges.get(network?.physical?.name ?? '');
    const physical = network?.physical;
    return network === undefined || physical === undefined || bridge === undefined
      ? []
      : [{ network, physical: physical.name, wire: wireOf(bridge, physical.vlanId) }];
  });
  return [...Map.groupBy(localnets, ({ wire }) => wire)].flatMap(([wire, on]) => problemOf(node, wire, on));
};

interface Localnet {
  readonly network: NetworkFact;
  readonly physical: string;
  readonly wire: string;
}

const wireOf = (bridge: string, vlanId: number | undefined): string =>
  `bridge ${bridge}, ${vlanId === undefined ? 'untagged' : `VLAN ${vlanId}`}`;

const problemOf = (node: string, wire: string, on: readonly Localnet[]): Problem[] => {
  if (new Set(on.map(({ physical }) => physical)).size < 2) return [];
  const sorted = on.toSorted((a, b) => (a.network.name < b.network.name ? -1 : 1));
  const names = sorted.map(({ network, physical }) => `${network.name} (physical network ${physical})`);
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  const message = `networks ${names.slice(0, MAX_SHOWN).join(', ')}${more} are one wire here: ${wire}`;
  const pair = overlapping(sorted);
  const also =
    pair === undefined
      ? ''
      : `; pods of ${pair.join(' and ')} can get the same addresses, as nothing compares these networks`;
  return [
    { object: `Node/${node}`, severity: 'warning', cause: 'physical-network-shared', message: `${message}${also}` },
  ];
};

/** Of different names, with subnets that overlap: the cluster manager refuses those of one name. */
const overlapping = (on: readonly Localnet[]): readonly [string, string] | undefined => {
  for (const [index, one] of on.entries())
    for (const other of on.slice(index + 1)) {
      const meet = one.network.subnets.some((a) => other.network.subnets.some((b) => cidrsOverlap(a.cidr, b.cidr)));
      if (meet && one.physical !== other.physical) return [one.network.name, other.network.name];
    }
  return undefined;
};

const MAX_SHOWN = 4;
