/**
 * Where packets meet an EgressFirewall: on the way out of the pods' switch, at the port to the router (docs/adr/0116). There no policy of who
 * receives is evaluated, load balancing is done, and network policies of who sends have decided already, so that each must let a packet through.
 *
 * On the default network the node's own port is a way out as well: a frame to its MAC goes around the router, and the host sends on what
 * comes by it from pods' addresses. On other networks it takes only what the router has translated (`managementIn` of the host's nftables).
 */
import { FAMILIES } from '../../../net/ip.ts';
import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { type DatabaseId, databaseId } from '../../model/database-ids.ts';
import type { NetworkFact } from '../../model/facts.ts';
import {
  controllerName,
  managementPortName,
  switchToRouterPortName,
  switchToTransitRouterPortName,
} from '../../model/names.ts';
import type { AdminRuleFact, SubjectSetFact } from '../../model/policies/facts.ts';
import { firewallExempts } from '../../model/policies/firewall-exempts.ts';
import { subjectSetName } from '../../model/policies/ids.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import type { View } from '../../model/view.ts';
import { MAX_ACL_NAME, policyAcl } from './acl.ts';
import { setOf } from './match.ts';

type Acl = DesiredRow<OvnNorthbound, 'ACL'>;

const OWNER_TYPE = 'EgressFirewall';

export const firewallRuleIdentity = (network: string, rule: string): DatabaseId =>
  databaseId(controllerName(network), OWNER_TYPE, { 'k8s.ovn.org/name': rule });

/** @param match of the rule itself */
export const firewallRule = (id: string, rule: AdminRuleFact, match: string, { network, view }: FirewallSite): Acl => {
  const { action, priority, policy } = rule;
  const { id: key, externalIds } = firewallRuleIdentity(network.name, id);
  const namespace = policy.split('/')[1] ?? '';
  const index = String(ACL_RANKS.firewallRules.priority - priority);
  const { tier } = ACL_RANKS.firewallRules;
  const acl = policyAcl(
    { id: key, externalIds: { ...externalIds, name: namespace, 'rule-index': index } },
    {
      direction: 'Ingress',
      // What is allowed goes on: to allow is to commit the connection once more, for nothing.
      action: action === 'deny' ? 'drop' : 'pass',
      rank: { tier, priority },
      match: `${toOutside(network, view)} && ${match}`,
    },
  );
  return { ...acl, columns: { ...acl.columns, name: aclName(namespace, index) } };
};

/** Of a long namespace the beginning: the server refuses a longer name, and what the rule denies would pass. */
const aclName = (namespace: string, index: string): string => {
  const room = MAX_ACL_NAME - `EF::${index}`.length;
  return `EF:${namespace.slice(0, room)}:${index}`;
};

/** What it is not about goes on before its first rule. */
export const firewallPasses = (id: string, set: SubjectSetFact, { network, view }: FirewallSite): readonly Acl[] =>
  FAMILIES.flatMap((family) => {
    const own = firewallExempts(network, view.cluster, family);
    if (own.length === 0) return [];
    const keys = { 'k8s.ovn.org/name': id, 'ip-family': String(family) };
    const identity = databaseId(controllerName(set.network), `${OWNER_TYPE}Exempt`, keys);
    const subjects = `ip${family}.src == $${subjectSetName(id, family)}`;
    const match = `${toOutside(network, view)} && ip${family}.dst == ${setOf(own)} && ${subjects}`;
    return policyAcl(identity, { direction: 'Ingress', action: 'pass', rank: ACL_RANKS.firewallExempt, match });
  });

export interface FirewallSite {
  readonly network: NetworkFact;
  readonly view: View;
}

const toOutside = (network: NetworkFact, { node }: View): string => {
  const { name, topology, role } = network;
  const router = topology === 'layer2' ? switchToTransitRouterPortName(name) : switchToRouterPortName(name, node);
  const ports = role === 'default' ? [router, managementPortName(name, node)] : [router];
  return `outport == ${setOf(ports.map((port) => `"${port}"`))}`;
};
