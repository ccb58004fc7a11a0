/** Isolation of the default interface of pods that have a primary network: a port group with ACLs, and its members. */
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { rowRef } from '../../../ovsdb/desired/types.ts';
import { databaseId, hashedName } from '../../model/database-ids.ts';
import { isLocked } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import {
  clusterRouterName,
  controllerName,
  podPortName,
  routerToJoinPortName,
  routerToTransitPortName,
} from '../../model/names.ts';
import { portGroupKey, switchPortKey } from '../../model/row-keys.ts';
import { merge } from '../shared/ovn/merge.ts';
import { managementSourcePolicy } from '../shared/ovn/router-rows.ts';
import { isolationAcls, managementIps } from './acls.ts';
import { openPortAcls } from './open-ports.ts';

const LOCKED_PODS = databaseId(controllerName(DEFAULT_NETWORK_NAME), 'UDNIsolation', {
  'k8s.ovn.org/name': 'SecondaryPods',
});
const PORT_GROUP = hashedName(LOCKED_PODS.id);

export const isolation: FeatureOver<'zone'> = {
  name: 'isolation',
  over: 'zone',
  render: (_, view) => {
    const subnets = view.nodeSubnets(view.node, DEFAULT_NETWORK_NAME);
    const acls = isolationAcls(PORT_GROUP, subnets);
    const router = clusterRouterName(DEFAULT_NETWORK_NAME);
    // All that it has but the one to this node's switch.
    const others = [routerToJoinPortName(router), routerToTransitPortName(DEFAULT_NETWORK_NAME, view.node)];
    const policies = managementIps(subnets).map((ip) => managementSourcePolicy(router, others, ip));
    const group = {
      table: 'Port_Group' as const,
      key: portGroupKey(PORT_GROUP),
      columns: {
        name: PORT_GROUP,
        acls: acls.map(({ key }) => rowRef(key)),
        external_ids: LOCKED_PODS.externalIds,
      },
    };
    return { northbound: merge({ rows: [group, ...acls] }, ...policies) };
  },
};

export const isolatedPods: FeatureOver<'pod'> = {
  name: 'isolation-pods',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || !isLocked(pod) || pod.node !== view.node || pod.finished) return EMPTY_FRAGMENT;
    const port = switchPortKey(podPortName(DEFAULT_NETWORK_NAME, pod.namespace, pod.name));
    const acls = openPortAcls(pod);
    const inGroup = { table: 'Port_Group', row: portGroupKey(PORT_GROUP) } as const;
    return {
      northbound: {
        rows: acls,
        members: [
          { ...inGroup, column: 'ports', value: rowRef(port) },
          ...acls.map(({ key: acl }) => ({ ...inGroup, column: 'acls', value: rowRef(acl) }) as const),
        ],
      },
    };
  },
};
