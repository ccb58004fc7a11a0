/**
 * Pods are no DHCP servers and no routers: the first answer would give the others their addresses, routes and name servers.
 * Without IPAM a network may have a DHCP server of its tenant's own, and so has a physical network: what is dropped there is on br-ex.
 * OVN's own answers are made behind this ACL. It lets no ACL stop router advertisements, so that a flow has to (ADR 41).
 */
import { rowRef } from '../../../ovsdb/desired/types.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { NO_ROUTER } from '../../model/integration-flows.ts';
import { controllerName } from '../../model/names.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { DHCP_CLIENT_PORTS } from '../shared/dhcp.ts';
import { podSwitchName, programmedNetwork } from '../shared/local-network.ts';

const TO_CLIENTS = `udp.dst == {${Object.values(DHCP_CLIENT_PORTS).join(', ')}}`;

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
    const { id, externalIds } = databaseId(controllerName(name), 'ServerAnswers', owner);
    const { tier, priority } = ACL_RANKS.serverAnswers;
    const match = TO_CLIENTS;
    const columns = {
      direction: 'from-lport',
      action: 'drop',
      priority,
      tier,
      match,
      external_ids: externalIds,
    } as const;
    return {
      northbound: {
        rows: [{ table: 'ACL', key: aclKey(id), columns }],
        members: [{ table: 'Logical_Switch', row: switchKey(onSwitch), column: 'acls', value: rowRef(aclKey(id)) }],
      },
    };
  },
};

/** Of every pod and network, by one flow: no port has an advertisement to bring in that OVN's own routers do not make here. */
export const routerAdvertisements: FeatureOver<'zone'> = {
  name: 'router-advertisements',
  over: 'zone',
  render: () => ({ openflow: { items: [NO_ROUTER] } }),
};
