/** What OVN is to do with what comes to one port of a Service on this node. Reference: docs/services.md. */
import type { ServicePort } from '../../../api/service.ts';
import { type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import type { ServiceFact } from '../../model/facts.ts';
import { chooseEndpoints, type Target, type Topology, targetsOf } from '../../model/services/choice.ts';
import { type Backends, type EndpointNetwork, isInside, withPort } from '../../model/services/endpoints.ts';
import type { ExternalAddresses } from '../../model/services/external-addresses.ts';

/** The part of this node that matters. A change of anything else need not notify any Service. */
export interface LocalNode extends Topology {
  /** All that the host has and others may use. */
  readonly addresses: readonly Ip[];
  /** The network has a gateway router here. */
  readonly hasRouter: boolean;
  readonly hasNodePorts: boolean;
}

/** Addresses that have a meaning on one node only, one per family. */
export interface MasqueradeAddresses {
  /** The host, as gateway routers reach it. */
  readonly host: readonly Ip[];
  /** Where the host sends what came to a node port of `externalTrafficPolicy: Local`. */
  readonly hostEtpLocal: readonly Ip[];
}

export interface RuleInput {
  readonly service: ServiceFact;
  readonly network: EndpointNetwork;
  readonly backends: Backends;
  readonly node: LocalNode;
  readonly masquerade: MasqueradeAddresses;
  readonly external: Pick<ExternalAddresses, 'ips' | 'nodePort'>;
}

/** Where one `address:port` is sent to; to nobody: it is refused. */
export interface Rule {
  readonly vip: string;
  /** For this node's pods. */
  readonly onSwitch: readonly string[];
  /** For all others. Undefined: only the switch knows this address. */
  readonly onRouter: readonly string[] | undefined;
  /** The gateway router leaves clients their addresses. */
  readonly keepsSource?: true;
}

export interface PortRules {
  /** The same on every node, and for everybody. */
  readonly common: readonly Rule[];
  readonly ofNode: readonly Rule[];
}

export const portRules = (input: RuleInput, port: ServicePort): PortRules => {
  const { service } = input;
  const backings = backingsOf(input, port);
  const backing = (ip: Ip): Backing => backings.get(ipFamily(ip)) ?? NO_BACKING;
  const external = input.external.ips(port).filter((ip) => backings.has(ipFamily(ip)));
  const staysHere = service.externalTrafficPolicy === 'Local';
  const cluster = [
    ...service.clusterIps.map((ip) => clusterIpRule(service, withPort(ip, port.port), backing(ip))),
    ...(staysHere ? [] : external.map((ip) => clusterRule(withPort(ip, port.port), backing(ip)))),
  ];
  const ofNode = [
    ...(staysHere ? external.map((ip) => localRule(withPort(ip, port.port), backing(ip))) : []),
    ...nodePortRules(input, port, backings),
  ];
  const isOfNode = service.internalTrafficPolicy === 'Local' || [...backings.values()].some((one) => one.isOfNode);
  return isOfNode ? { common: [], ofNode: [...cluster, ...ofNode] } : { common: cluster, ofNode };
};

/** What the endpoints of one family are for the switch and for the gateway router. */
interface Backing {
  readonly cluster: Sides;
  readonly local: Sides;
  /** It would not be the same on another node. */
  readonly isOfNode: boolean;
}

type Sides = Pick<Rule, 'onSwitch'> & { readonly onRouter: readonly string[] };

const NOBODY: Sides = { onSwitch: [], onRouter: [] };
const NO_BACKING: Backing = { cluster: NOBODY, local: NOBODY, isOfNode: false };

/** By the families that the Service has. */
const backingsOf = (input: RuleInput, port: ServicePort): ReadonlyMap<Family, Backing> =>
  new Map(
    [...new Set(input.service.clusterIps.map(ipFamily))].map((family) => [family, backingOf(input, port, family)]),
  );

const backingOf = (input: RuleInput, port: ServicePort, family: Family): Backing => {
  const { cluster, local, isTopological } = chooseEndpoints(targetsOf(input.backends.slices, port, family), input.node);
  const { service, network } = input;
  const isOutside = (ip: Ip): boolean => !isInside(network, ip);
  const hasLocal = service.externalTrafficPolicy === 'Local' || service.internalTrafficPolicy === 'Local';
  const used = hasLocal ? [...cluster, ...local] : cluster;
  const outside = new Set(used.map(({ endpoint }) => endpoint.ip).filter(isOutside));
  return {
    cluster: sides(cluster, outside, input),
    local: hasLocal ? sides(local, outside, input) : NOBODY,
    isOfNode: isTopological || outside.size > 0,
  };
};

/**
 * Behind the gateway router is the host, which answers itself only when it is called by another address than its own. Pods of the
 * default network reach it by the management port; of a tenant's that port is in a VRF, where no process of the node listens.
 */
const sides = (
  targets: readonly Target[],
  outside: ReadonlySet<Ip>,
  { network, node, masquerade }: RuleInput,
): Sides => {
  const asTheyAre = texts(targets, (ip) => ip);
  if (outside.size === 0) return { onSwitch: asTheyAre, onRouter: asTheyAre };
  const own = new Set(node.addresses.filter((ip) => outside.has(ip)));
  const asHost = (ip: Ip): Ip | undefined => masquerade.host.find((one) => ipFamily(one) === ipFamily(ip));
  const onRouter = texts(targets, (ip) => (own.has(ip) && asHost(ip)) || ip);
  return { onSwitch: network.role === 'default' ? asTheyAre : onRouter, onRouter };
};

const texts = (targets: readonly Target[], address: (ip: Ip) => Ip): readonly string[] => [
  ...new Set(targets.map(({ endpoint, port }) => withPort(address(endpoint.ip), port))),
];

const clusterRule = (vip: string, { cluster }: Backing): Rule => ({ vip, ...cluster });

/** What the host sends comes by the gateway router with all endpoints: the host itself chooses those of the node. */
const clusterIpRule = ({ internalTrafficPolicy }: ServiceFact, vip: string, { cluster, local }: Backing): Rule =>
  internalTrafficPolicy === 'Local'
    ? { vip, onSwitch: local.onSwitch, onRouter: cluster.onRouter }
    : { vip, ...cluster };

/** Pods of the node would reach the endpoints anyhow: only what comes from outside has to stay here. */
const localRule = (vip: string, { cluster, local }: Backing): Rule => ({
  vip,
  onSwitch: cluster.onSwitch,
  onRouter: local.onRouter,
  keepsSource: true,
});

const nodePortRules = (
  { service, node, masquerade, external }: RuleInput,
  port: ServicePort,
  backings: ReadonlyMap<Family, Backing>,
): Rule[] => {
  const nodePort = external.nodePort(port);
  if (nodePort === undefined || !node.hasNodePorts) return [];
  const staysHere = service.externalTrafficPolicy === 'Local';
  const rule = staysHere ? localRule : clusterRule;
  return [...backings].flatMap(([family, backing]) => {
    const at = (ips: readonly Ip[]): string[] =>
      ips.filter((ip) => ipFamily(ip) === family).map((ip) => withPort(ip, nodePort));
    const byHost = (vip: string): Rule => ({ vip, onSwitch: backing.local.onSwitch, onRouter: undefined });
    return [
      ...at(node.addresses).map((vip) => rule(vip, backing)),
      ...(staysHere ? at(masquerade.hostEtpLocal).map(byHost) : []),
    ];
  });
};
