/** What a logical router has in sets: routes, policies and translations, each row with its place in the router. */
import { type Cidr, cidrFamily } from '../../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import { type DesiredFragment, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import { ROUTER_POLICY_PRIORITIES } from '../../../model/registry/router-policies.ts';
import { defaultRouteKey, routerKey, routerPolicyKey, snatKey, staticRouteKey } from '../../../model/row-keys.ts';

type Northbound = DesiredFragment<OvnNorthbound>;
type ExternalIds = Readonly<Record<string, string>>;

interface Hop {
  /** `discard`: nobody (ovn-nb(5)). */
  readonly nexthop: Ip | 'discard';
  readonly outputPort?: string;
  readonly externalIds?: ExternalIds;
}

/** By destination, which `policy: 'dst-ip'` only says aloud, or by source with `policy: 'src-ip'`. */
export const staticRoute = (
  router: string,
  { prefix, policy, ...hop }: Hop & { readonly prefix: Cidr | Ip; readonly policy?: 'dst-ip' | 'src-ip' },
): Northbound => routeRow(router, staticRouteKey(router, prefix, policy), prefix, policy, hop);

/** Several of one family share the load. */
export const defaultRouteVia = (router: string, prefix: Cidr, hop: Hop & { readonly nexthop: Ip }): Northbound =>
  routeRow(router, defaultRouteKey(router, hop.nexthop), prefix, undefined, hop);

const routeRow = (
  router: string,
  key: string,
  prefix: Cidr | Ip,
  policy: 'dst-ip' | 'src-ip' | undefined,
  { nexthop, outputPort, externalIds = {} }: Hop,
): Northbound => ({
  rows: [
    {
      table: 'Logical_Router_Static_Route',
      key,
      columns: { ip_prefix: prefix, nexthop, policy, output_port: outputPort, external_ids: externalIds },
    },
  ],
  members: [{ table: 'Logical_Router', row: routerKey(router), column: 'static_routes', value: rowRef(key) }],
});

export interface SourceTranslation {
  readonly source: Cidr | Ip;
  readonly to: Ip;
  /** Of a distributed router: the port by which the packets leave. */
  readonly logicalPort?: string;
  readonly match?: string;
  /** From which `to` sends: `first-last`. Any, when it is not given. */
  readonly ports?: string;
  readonly externalIds?: ExternalIds;
}

export const sourceTranslation = (
  router: string,
  { source, to, logicalPort, match = '', ports = '', externalIds = {} }: SourceTranslation,
): Northbound => {
  const key = snatKey(router, source);
  return {
    rows: [
      {
        table: 'NAT',
        key,
        columns: {
          type: 'snat',
          external_ip: to,
          logical_ip: source,
          logical_port: logicalPort,
          match,
          external_port_range: ports,
          options: { stateless: 'false' },
          external_ids: externalIds,
        },
      },
    ],
    members: [{ table: 'Logical_Router', row: routerKey(router), column: 'nat', value: rowRef(key) }],
  };
};

/**
 * Nobody but the management port sends as it, and that is behind none of these ports of the router. They are named, as a port can be compared
 * by equality only (ovn-sb(5), nominal fields): ovn-controller refuses a flow with `inport != …`, and the policy did nothing.
 */
export const managementSourcePolicy = (router: string, ports: readonly string[], source: Ip): Northbound => {
  const { priority } = ROUTER_POLICY_PRIORITIES.managementSource;
  const from = ports.map((port) => `"${port}"`).join(', ');
  const match = `inport == {${from}} && ip${ipFamily(source)}.src == ${source}`;
  return dropPolicy(router, routerPolicyKey(router, priority, source), priority, match);
};

/**
 * A packet for one receiver in a frame for a group: RFC 1122 §3.3.6 has hosts discard it. OVN discards what is in broadcast frames only. What
 * is for the router itself, as questions of neighbours, has been answered before.
 */
export const groupFramePolicy = (router: string, port: string): Northbound => {
  const { priority } = ROUTER_POLICY_PRIORITIES.groupFrame;
  return dropPolicy(router, routerPolicyKey(router, priority, port), priority, `inport == "${port}" && eth.mcast`);
};

/**
 * Only the host sends there, and not by `port`, behind which the pods are. To pods with a port of the node the gateway router would be the
 * client, which network policies let in, and ports at loopback addresses are no pod's to call.
 */
export const hostPortPolicy = (router: string, port: string, subnets: readonly Cidr[]): Northbound => {
  const { priority } = ROUTER_POLICY_PRIORITIES.hostPorts;
  const to = subnets.map((subnet) => `ip${cidrFamily(subnet)}.dst == ${subnet}`).join(' || ');
  return dropPolicy(router, routerPolicyKey(router, priority, port), priority, `inport == "${port}" && (${to})`);
};

const dropPolicy = (router: string, key: string, priority: number, match: string): Northbound => ({
  rows: [
    {
      table: 'Logical_Router_Policy',
      key,
      columns: { action: 'drop', priority, match, nexthops: [], external_ids: {} },
    },
  ],
  members: [{ table: 'Logical_Router', row: routerKey(router), column: 'policies', value: rowRef(key) }],
});

/** What goes to an address of this node takes the way through the management port. */
export const nodeAddressPolicy = (
  router: string,
  { destination, match, nexthop, externalIds = {} }: Hop & { readonly destination: Ip; readonly match: string },
): Northbound => {
  const { priority } = ROUTER_POLICY_PRIORITIES.nodeAddress;
  const key = routerPolicyKey(router, priority, destination);
  return {
    rows: [
      {
        table: 'Logical_Router_Policy',
        key,
        columns: { action: 'reroute', priority, match, nexthops: [nexthop], external_ids: externalIds },
      },
    ],
    members: [{ table: 'Logical_Router', row: routerKey(router), column: 'policies', value: rowRef(key) }],
  };
};
