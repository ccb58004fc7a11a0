/**
 * Services, as OVN answers them. A load balancer for each protocol is in the group that the switch and the gateway of the
 * network refer to; what is not the same on all nodes (node ports, traffic policies, topology, endpoints that are the node
 * itself) is in others, on the switch or the gateway router. A Service that changes concerns its own rows only. What does
 * not work yet is in docs/services.md.
 */
import { type ClusterConfig, masqueradeAddresses } from '../../../../api/cluster-config.ts';
import type { Ip } from '../../../../net/ip.ts';
import { rowRef } from '../../../../ovsdb/desired/types.ts';
import type { ServiceFact, SliceFact } from '../../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { gatewayRouterName, loadBalancerGroupName } from '../../../model/names.ts';
import { loadBalancerGroupKey, routerKey, switchKey } from '../../../model/row-keys.ts';
import { type Backends, networkSlices } from '../../../model/services/endpoints.ts';
import { type ExternalAddresses, externalAddresses } from '../../../model/services/external-addresses.ts';
import type { View } from '../../../model/view.ts';
import { podSwitchName, routedNetwork } from '../../shared/local-network.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { hasGateway, localNode } from '../local-node.ts';
import { localServiceNetwork } from '../published.ts';
import type { MasqueradeAddresses } from '../rules.ts';
import { loadBalancerConfigs } from './configs.ts';
import { loadBalancer } from './load-balancer.ts';

export const loadBalancerGroups: FeatureOver<'network'> = {
  name: 'load-balancer-groups',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = routedNetwork(name, view)?.network;
    if (network === undefined) return EMPTY_FRAGMENT;
    const group = loadBalancerGroupName(name);
    const value = rowRef(loadBalancerGroupKey(group));
    const column = 'load_balancer_group' as const;
    const onSwitch = switchKey(podSwitchName(network, view.node));
    const router = hasGateway(name, view) ? [routerKey(gatewayRouterName(name, view.node))] : [];
    return {
      northbound: {
        rows: [{ table: 'Load_Balancer_Group', key: loadBalancerGroupKey(group), columns: { name: group } }],
        members: [
          { table: 'Logical_Switch', row: onSwitch, column, value },
          ...router.map((row) => ({ table: 'Logical_Router' as const, row, column, value })),
        ],
      },
    };
  },
};

export const services: FeatureOver<'service'> = {
  name: 'services',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    const network = localServiceNetwork(service, view);
    if (service === undefined || network === undefined) return EMPTY_FRAGMENT;
    const { cluster } = view;
    const backends = networkSlices(network, view.serviceSlices(key), view);
    const node = localNode(network, view);
    const external = externalAddresses(service, network, view, node);
    const configs = loadBalancerConfigs({ service, network, backends, node, external, masquerade: fixed(cluster) });
    const owner = { kind: 'Service', key, affinitySeconds: service.affinitySeconds } as const;
    return {
      northbound: merge(...configs.map((config) => loadBalancer({ owner, network, node: view.node, cluster }, config))),
      diagnostics: [
        ...strangers(service, network.name, backends),
        ...lockedPods(service, backends),
        ...refusals(service, external, isReporter(view.serviceSlices(key), view)),
      ],
    };
  },
};

const fixed = (cluster: ClusterConfig): MasqueradeAddresses => ({
  get host() {
    return masqueradeAddresses(cluster, 'host');
  },
  get hostEtpLocal() {
    return masqueradeAddresses(cluster, 'hostEtpLocal');
  },
});

const strangers = (service: ServiceFact, network: string, { refused, locked }: Backends): Diagnostic[] => {
  const known = new Set(locked);
  const unknown = refused.filter((ip) => !known.has(ip));
  return leftOut(service, unknown, `not an endpoint address of network ${network}`);
};

/** The agents that know such a pod say so by an event: those of its node, and of its network where that is of layer 2. */
const lockedPods = (service: ServiceFact, { locked }: Backends): Diagnostic[] =>
  leftOut(service, locked, 'its pod has a primary network, so only Services of that network apply').map(
    (diagnostic) => ({ ...diagnostic, event: 'EndpointNotAllowed' }),
  );

const leftOut = ({ namespace, name }: ServiceFact, ips: readonly Ip[], why: string): Diagnostic[] => {
  const [first] = ips;
  if (first === undefined) return [];
  const more = ips.length > 1 ? ` and ${ips.length - 1} more` : '';
  const message = `ignoring endpoint ${first}${more}: ${why}`;
  return [{ object: `Service/${namespace}/${name}`, severity: 'warning', cause: 'endpoint-refused', message }];
};

const refusals = (
  { namespace, name }: ServiceFact,
  { refusals: all }: ExternalAddresses,
  emits: boolean,
): Diagnostic[] =>
  all.map(({ reason, message }) => ({
    object: `Service/${namespace}/${name}`,
    severity: 'warning',
    cause: 'external-address-refused',
    message,
    ...(emits && { event: reason }),
  }));

/** All agents find the same: the one whose node has the first endpoint says so by an event. */
const isReporter = (slices: readonly SliceFact[], { node }: Pick<View, 'node'>): boolean => {
  const endpoints = slices.flatMap(({ ready, terminating }) => [...ready, ...terminating]);
  return endpoints.find((endpoint) => endpoint.node !== undefined)?.node === node;
};
