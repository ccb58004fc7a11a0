/**
 * Pods are no DHCP servers and no routers: the first answer would give the others their addresses, routes and name servers.
 * Without IPAM a network may have a DHCP server of its tenant's own, and so has a physical network: what is dropped there is on br-ex.
 * OVN's own answers are made behind this ACL. What machines on layer 2 may ask them with, whatever policies say (`pods/machine-group.ts`), is
 * dropped before any pod receives it: it would be a way around policies. It lets no ACL stop router advertisements, so that a flow has to (ADR 41).
 */

import { FAMILIES } from '../../../net/ip.ts';
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { type DatabaseId, databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { NO_ROUTER } from '../../model/integration-flows.ts';
import { controllerName } from '../../model/names.ts';
import { ACL_RANKS, type AclRank } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { DHCP_CLIENT_PORTS, DHCP_SERVER_PORTS } from '../shared/dhcp.ts';
import { podSwitchName, programmedNetwork } from '../shared/local-network.ts';

const TO_CLIENTS = `udp.dst == {${Object.values(DHCP_CLIENT_PORTS).join(', ')}}`;
const TO_SERVERS = FAMILIES.map(
  (family) => `(udp.src == ${DHCP_CLIENT_PORTS[family]} && udp.dst == ${DHCP_SERVER_PORTS[family]})`,
).join(' || ');

export const serverAnswers: FeatureOver<'network'> = {
  name: 'server-answers',
  over: 'network',
  render: ({ network: name }, view) => {
    const found = programmedNetwork(name, view);
    if (found === undefined || found.subnets.length === 0) return EMPTY_FRAGMENT;
    const { network } = found;
    if (network.topology === 'localnet') return EMPTY_FRAGMENT;
    const onSwitch = podSwitchName(network, view.node);
    const owner = { 'k8s.ovn.org/name': onSwitch };
    const acl = (type: string, rest: Pick<Acl['columns'], 'direction' | 'match'>, rank: AclRank): Acl =>
      dropAcl(databaseId(controllerName(name), type, owner), rest, rank);
    const rows = [
      acl('ServerAnswers', { direction: 'from-lport', match: TO_CLIENTS }, ACL_RANKS.serverAnswers),
      ...(network.topology === 'layer2'
        ? [acl('ServerQuestions', { direction: 'to-lport', match: TO_SERVERS }, ACL_RANKS.serverQuestions)]
        : []),
    ];
    const members = rows.map(
      ({ key }) => ({ table: 'Logical_Switch', row: switchKey(onSwitch), column: 'acls', value: rowRef(key) }) as const,
    );
    return { northbound: { rows, members } };
  },
};

type Acl = DesiredRow<OvnNorthbound, 'ACL'>;

const dropAcl = (
  { id, externalIds }: DatabaseId,
  rest: Pick<Acl['columns'], 'direction' | 'match'>,
  { tier, priority }: AclRank,
): Acl => ({
  table: 'ACL',
  key: aclKey(id),
  columns: { ...rest, action: 'drop', priority, tier, external_ids: externalIds },
});

/** Of every pod and network, by one flow: no port has an advertisement to bring in that OVN's own routers do not make here. */
export const routerAdvertisements: FeatureOver<'zone'> = {
  name: 'router-advertisements',
  over: 'zone',
  render: () => ({ openflow: { items: [NO_ROUTER] } }),
};
