/** The rows of a Service, and of ports of a pod: ovn-nb(5), Load_Balancer. */
import { type ClusterConfig, masqueradeAddresses } from '../../../../api/cluster-config.ts';
import type { ServiceProtocol } from '../../../../api/service.ts';
import { type DesiredColumns, type DesiredFragment, type RowRef, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { LoadBalancerRow, OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import type { RoutedNetworkFact, ServiceFact } from '../../../model/facts.ts';
import { gatewayRouterName, loadBalancerGroupName, loadBalancerName } from '../../../model/names.ts';
import { loadBalancerGroupKey, loadBalancerKey, routerKey, switchKey } from '../../../model/row-keys.ts';
import { podSwitchName } from '../../shared/local-network.ts';
import type { LoadBalancerConfig, Scope } from './configs.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export interface LoadBalancerInput {
  readonly owner: BalancerOwner;
  readonly network: RoutedNetworkFact;
  /** This one. */
  readonly node: string;
  readonly cluster: ClusterConfig;
}

/** Whose ports they have. */
export interface BalancerOwner extends Pick<ServiceFact, 'affinitySeconds'> {
  readonly kind: 'Service' | 'Pod';
  /** `namespace/name` */
  readonly key: string;
}

export const loadBalancer = (input: LoadBalancerInput, config: LoadBalancerConfig): Northbound => {
  const { scope, protocol, vips } = config;
  const { owner, network, node } = input;
  const name = loadBalancerName(network.name, owner, protocol, suffixOf(config, node));
  const { options, selection_fields } = affinity(owner);
  // One text for both: where there are many, they are compared often.
  const key = loadBalancerKey(name);
  return {
    rows: [
      {
        table: 'Load_Balancer',
        key,
        columns: {
          name,
          protocol: PROTOCOLS[protocol],
          vips,
          options: { ...commonOptions(input, keepsSource({ scope, vips })), ...options, ...flushing(protocol) },
          selection_fields,
          external_ids: { 'k8s.ovn.org/kind': owner.kind, 'k8s.ovn.org/owner': owner.key, ...idsOf(network) },
        },
      },
    ],
    members: members(input, scope, rowRef(key)),
  };
};

const suffixOf = ({ scope, isApart }: LoadBalancerConfig, node: string): string =>
  [scope, ...(scope === 'cluster' ? [] : [node]), ...(isApart === true ? ['refused'] : [])].join('_');

const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

/** Those of all nodes are in the group that the switch and the router refer to. */
const members = (
  { network, node }: LoadBalancerInput,
  scope: Scope,
  value: RowRef,
): NonNullable<Northbound['members']> => {
  const column = 'load_balancer';
  if (scope === 'cluster') {
    return [
      { table: 'Load_Balancer_Group', row: loadBalancerGroupKey(loadBalancerGroupName(network.name)), column, value },
    ];
  }
  const router = routerKey(gatewayRouterName(network.name, node));
  const onSwitch = scope === 'node_switch' || scope === 'node_router+switch';
  return [
    ...(scope === 'node_switch' ? [] : [{ table: 'Logical_Router' as const, row: router, column, value } as const]),
    ...(onSwitch
      ? [{ table: 'Logical_Switch' as const, row: switchKey(podSwitchName(network, node)), column, value } as const]
      : []),
  ];
};

/**
 * At the gateway router. What nobody is behind keeps its addresses, too: a reset that comes from another address than the one
 * that was called is none (northd lets `reject` pass the router's translation).
 */
const keepsSource = ({ scope, vips }: Pick<LoadBalancerConfig, 'scope' | 'vips'>): boolean =>
  scope === 'node_local_router' || Object.values(vips).every((targets) => targets === '');

const commonOptions = ({ cluster }: LoadBalancerInput, skipsSnat: boolean): Record<string, string> => ({
  reject: 'true',
  event: 'false',
  skip_snat: String(skipsSnat),
  neighbor_responder: 'none',
  // As what an endpoint sees itself when it is its own client: an answer to its own address would not come back.
  hairpin_snat_ip: masqueradeAddresses(cluster, 'serviceHairpin').join(' '),
});

/**
 * Clients of UDP never restart: what is known of theirs is forgotten when its endpoint goes, or they would go on to talk to
 * it. Those of TCP and SCTP hear that nobody is there, and what is still under way with an endpoint that ends may finish.
 */
const flushing = (protocol: ServiceProtocol): Record<string, string> =>
  protocol === 'UDP' ? { ct_flush: 'true' } : {};

/** A day, the longest that there is, is taken for always: by a hash, which needs no memory of clients. */
const affinity = ({
  affinitySeconds,
}: BalancerOwner): Required<Pick<DesiredColumns<LoadBalancerRow>, 'selection_fields'>> & {
  readonly options: Readonly<Record<string, string>>;
} => {
  if (affinitySeconds === undefined) return { options: {}, selection_fields: [] };
  if (affinitySeconds === A_DAY) return { options: {}, selection_fields: ['ip_src', 'ip_dst'] };
  return { options: { affinity_timeout: String(affinitySeconds) }, selection_fields: [] };
};

const A_DAY = 86_400;

const idsOf = ({ name, role }: RoutedNetworkFact): Record<string, string> =>
  role === 'default' ? {} : { 'k8s.ovn.org/network': name, 'k8s.ovn.org/role': role };
