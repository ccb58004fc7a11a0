/**
 * What network policies make of a pod's port: in the fragment with the port, so that one transaction has both, and the port waits for the
 * groups that it must not be without. Between two transactions the pod would be open, and `ovn-installed` would be no proof (docs/adr/0111).
 */
import type { PodNetworkEntry } from '../../../api/annotations/pod-networks.ts';
import { addressOf } from '../../../net/cidr.ts';
import { ipFamily } from '../../../net/ip.ts';
import { type Member, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { attachmentId, type NetworkFact } from '../../model/facts.ts';
import type { PodPolicyFact } from '../../model/policies/facts.ts';
import { denyGroupId, denyGroupName, subjectSetName, targetSetName } from '../../model/policies/ids.ts';
import { hasTargetGroups } from '../../model/policies/target-groups.ts';
import { addressSetKey, portGroupKey, switchPortKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';

interface PolicySubject {
  /** Of the fact `podPolicy`. */
  readonly id: string;
  readonly pod: string;
  /** Of an attachment to a secondary network. */
  readonly network?: string | undefined;
}

/** Which policies a port is under: those of its pod where it is the primary interface, and MultiNetworkPolicies on a secondary network. */
export const policySubject = (
  pod: string,
  { role = 'primary' }: PodNetworkEntry,
  { name, role: ofNetwork }: Pick<NetworkFact, 'name' | 'role'>,
): PolicySubject | undefined => {
  if (ofNetwork === 'secondary') return { id: attachmentId(pod, name), pod, network: name };
  return role === 'primary' ? { id: pod, pod } : undefined;
};

export const isDecided = ({ pod, network }: PolicySubject, view: View): boolean =>
  network === undefined ? view.isPolicyDecided(pod) : view.isAttachmentDecided(pod, network);

/** The keys of the groups that drop what no rule allows: the network's, and the one that logs it. */
export const denyGroupKeys = ({ network, denyGroup, isolated }: PodPolicyFact): string[] =>
  [...new Set([denyGroupId({ network }), denyGroup])].flatMap((group) =>
    isolated.map((direction) => portGroupKey(denyGroupName(group, direction))),
  );

/** The keys of the sets by which rules of administrators' policies drop its traffic. */
export const subjectSetKeys = ({ subjects = [] }: PodPolicyFact, { ipAddresses }: PodNetworkEntry): string[] => {
  const families = new Set(ipAddresses.map(addressOf).map(ipFamily));
  return subjects.flatMap((set) => [...families].map((family) => addressSetKey(subjectSetName(set, family))));
};

/** @param network the one that the port is on: rules of another allow it nothing */
export const policyMembers = (
  policy: PodPolicyFact,
  port: { readonly name: string; readonly network: NetworkFact; readonly entry: PodNetworkEntry },
  view: View,
): Member<OvnNorthbound>[] => [
  ...denyGroupKeys(policy).map((row) => ({
    ...({ table: 'Port_Group', row, column: 'ports' } as const),
    value: rowRef(switchPortKey(port.name)),
  })),
  ...(policy.network !== port.network.name
    ? []
    : hasTargetGroups(port.network)
      ? groupMembers(policy, port.name)
      : [...targetMembers(policy, port.entry, view), ...subjectMembers(policy, port.entry)]),
];

/** Of a network without IPAM: nobody knows the addresses of its pods. */
const groupMembers = ({ rules }: PodPolicyFact, port: string): Member<OvnNorthbound>[] =>
  rules.map((id) => ({
    ...({ table: 'Port_Group', row: portGroupKey(targetSetName(id)), column: 'ports' } as const),
    value: rowRef(switchPortKey(port)),
  }));

const subjectMembers = ({ subjects = [] }: PodPolicyFact, { ipAddresses }: PodNetworkEntry): Member<OvnNorthbound>[] =>
  subjects.flatMap((set) =>
    ipAddresses.map(addressOf).map((value) => ({
      ...({
        table: 'Address_Set',
        row: addressSetKey(subjectSetName(set, ipFamily(value))),
        column: 'addresses',
      } as const),
      value,
    })),
  );

const targetMembers = (
  { rules }: PodPolicyFact,
  { ipAddresses }: PodNetworkEntry,
  view: View,
): Member<OvnNorthbound>[] =>
  rules.flatMap((id) => {
    const family = view.policyRule(id)?.family;
    return ipAddresses
      .map(addressOf)
      .filter((ip) => ipFamily(ip) === family)
      .map((value) => ({
        ...({ table: 'Address_Set', row: addressSetKey(targetSetName(id)), column: 'addresses' } as const),
        value,
      }));
  });
