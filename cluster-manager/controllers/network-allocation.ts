/** What a network got: its number, its VRF, its subnets, and whether all nodes have their part. */
import type { ConditionInput } from '../../api/condition.ts';
import type { NetworkStatusFields } from '../../api/network-status.ts';
import { vrfName, vrfTable } from '../../api/vrf.ts';
import type { NetworkRecord } from '../allocation/network-registry.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { allocationCondition, refusedCondition } from './network-conditions.ts';

export interface NetworkAllocation {
  readonly condition: ConditionInput;
  readonly fields: NetworkStatusFields;
  /** Node → why it has no subnet. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Undefined as long as nothing has been tried: its NADs are not there, or not seen yet. @param nads its keys */
export const networkAllocation = (
  { networkName }: NetworkFacts,
  nads: readonly string[],
  state: ClusterState,
): NetworkAllocation | undefined => {
  if (nads.length === 0) return undefined;
  const { registry, nadProblems } = state;
  // By its own NADs: that there is a network of its name says nothing yet.
  const isOut = (key: string): boolean => registry.networkOfNad(key)?.name !== networkName;
  const out = nads.filter(isOut);
  const [refusal] = out.flatMap((key) => nadProblems.get(key) ?? []);
  const record = out.length === nads.length ? undefined : registry.get(networkName);
  if (record === undefined) {
    return refusal === undefined
      ? undefined
      : { condition: refusedCondition(refusal), fields: {}, failures: new Map() };
  }
  const failures = state.nodes.failures(networkName);
  const condition = refusal === undefined ? allocationCondition(failures) : refusedCondition(refusal);
  return { condition, fields: fieldsOf(record), failures };
};

/** For events, one for each node: first the words that users of ovn-kubernetes wait for, then what is wrong. @param failures node → why it has no subnet */
export const failureTexts = (failures: ReadonlyMap<string, string>): string[] =>
  [...failures].map(
    ([node, message]) => `Error occurred for node ${node}: error allocating network for node ${node}: ${message}`,
  );

const fieldsOf = ({ name, network, keys }: NetworkRecord): NetworkStatusFields => ({
  networkName: name,
  networkID: keys.id,
  ...(network.role === 'primary' && { vrf: { name: vrfName(name, keys.id), table: vrfTable(keys.id) } }),
  ...subnetFields(
    network.subnets.map(({ cidr, hostPrefix }) => (hostPrefix === undefined ? cidr : `${cidr}/${hostPrefix}`)),
  ),
});

/** A column of kubectl shows a list as JSON, or nothing but its first item. */
const subnetFields = (subnets: string[]): NetworkStatusFields => {
  if (subnets.length === 0) return {};
  const more = subnets.length > SHOWN ? ` and ${subnets.length - SHOWN} more` : '';
  return { subnets, subnetSummary: `${subnets.slice(0, SHOWN).join(', ')}${more}` };
};

const SHOWN = 2;
