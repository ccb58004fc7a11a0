/** What has to hold between the fields of a network's configuration, whoever wrote it. */
import {
  addressAt,
  addressOf,
  type Cidr,
  cidrContains,
  cidrContainsIp,
  cidrFamily,
  cidrSize,
  cidrsOverlap,
  parseCidr,
  prefixLength,
} from '../net/cidr.ts';
import { addressBits, type Ip, ipFamily } from '../net/ip.ts';
import { DEFAULT_HOST_PREFIX, NODE_BITS } from './cluster-config.ts';
import type { NetConf } from './net-conf.ts';
import { gatewayIp, managementIp, type NetworkSubnet } from './network.ts';

export interface BrokenRule {
  readonly message: string;
  readonly field: string;
}

/** The first rule that the configuration breaks. */
export const brokenNetConfRule = (conf: NetConf): BrokenRule | undefined =>
  RULES.map((rule) => rule(conf)).find((broken) => broken !== undefined);

type NetConfRule = (conf: NetConf) => BrokenRule | undefined;

const broken = (field: string, message: string): BrokenRule => ({ field, message });

const localnet: NetConfRule = ({ topology, role, joinSubnets }) => {
  if (topology !== 'localnet') return undefined;
  if (role === 'primary') {
    return broken(
      'role',
      'unexpected network field "role" primary for "localnet" topology, localnet topology does not allow network roles to be set since its always a secondary network',
    );
  }
  if (joinSubnets.length === 0) return undefined;
  return broken('joinSubnet', 'localnet topology does not allow specifying join-subnet as services are not supported');
};

const persistentIps: NetConfRule = ({ topology, allowPersistentIps }) =>
  topology === 'layer3' && allowPersistentIps
    ? broken('allowPersistentIPs', 'layer3 topology does not allow persistent IPs')
    : undefined;

const subnetsPresent: NetConfRule = ({ topology, role, subnets }) => {
  if (subnets.length > 0 || topology === 'localnet') return undefined;
  if (topology === 'layer3') return broken('subnets', 'the subnet attribute must be defined for layer3 networks');
  return role === 'primary'
    ? broken('subnets', 'the subnet attribute must be defined for layer2 primary user defined networks')
    : undefined;
};

const hostSubnets: NetConfRule = ({ topology, subnets }) => {
  for (const { cidr, hostPrefix } of subnets) {
    if (hostPrefix === undefined) continue;
    if (topology !== 'layer3') {
      return broken('subnets', `a host subnet length is for layer3 networks only, "${cidr}/${hostPrefix}" has one`);
    }
    const message = hostPrefixProblem(cidr, hostPrefix);
    if (message !== undefined) return broken('subnets', message);
  }
  if (topology !== 'layer3') return undefined;
  const tooLong = subnets.find(
    ({ cidr, hostPrefix }) => hostPrefix === undefined && prefixLength(cidr) >= defaultHostPrefix(cidr),
  );
  if (tooLong === undefined) return undefined;
  return broken('subnets', hostPrefixProblem(tooLong.cidr, defaultHostPrefix(tooLong.cidr)) ?? '');
};

const defaultHostPrefix = (cidr: Cidr): number => DEFAULT_HOST_PREFIX[cidrFamily(cidr)];

const hostPrefixProblem = (cidr: Cidr, hostPrefix: number): string | undefined => {
  const bits = addressBits(cidrFamily(cidr));
  if (hostPrefix >= bits) return `invalid host subnet, IPv${cidrFamily(cidr)} subnet must be < ${bits}`;
  if (cidrFamily(cidr) === 6 && hostPrefix !== 64) return 'IPv6 only supports /64 host subnets';
  if (hostPrefix > prefixLength(cidr)) return undefined;
  return `cannot use a host subnet length mask shorter than or equal to the cluster subnet mask. host subnet length: ${hostPrefix}, cluster subnet length: ${prefixLength(cidr)}`;
};

/** Layer 2 has one subnet per family: every pod has one address of each. */
const oneSubnetPerFamily: NetConfRule = ({ topology, subnets }) => {
  if (topology === 'layer3') return undefined;
  const families = subnets.map(({ cidr }) => cidrFamily(cidr));
  if (new Set(families).size === families.length) return undefined;
  return broken('subnets', `${topology} networks have at most one subnet of a family`);
};

const ownSubnetsOverlap: NetConfRule = ({ subnets }) => {
  for (const [position, a] of subnets.entries()) {
    const b = subnets.slice(position + 1).find(({ cidr }) => cidrsOverlap(a.cidr, cidr));
    if (b === undefined) continue;
    return broken('subnets', `user defined subnet "${a.cidr}" overlaps user defined subnet "${b.cidr}"`);
  }
  return undefined;
};

const partsAreContained: NetConfRule = (conf) =>
  outside('excludeSubnets', 'excluded', conf.excludeSubnets, conf.subnets) ??
  outside('reservedSubnets', 'reserved', conf.reservedSubnets, conf.subnets) ??
  outside('infrastructureSubnets', 'infrastructure', conf.infrastructureSubnets, conf.subnets);

const outside = (
  field: string,
  what: string,
  parts: readonly Cidr[],
  subnets: readonly NetworkSubnet[],
): BrokenRule | undefined => {
  const part = parts.find((one) => !subnets.some(({ cidr }) => cidrContains(cidr, one)));
  if (part === undefined) return undefined;
  return broken(field, `the provided network subnets do not contain ${what} subnets ${part}`);
};

const joinSubnets: NetConfRule = ({ role, joinSubnets: join }) => {
  if (join.length === 0) return undefined;
  if (role !== 'primary') return broken('joinSubnet', 'JoinSubnets is only supported for Primary network');
  if (new Set(join.map(cidrFamily)).size === join.length) return undefined;
  return broken('joinSubnet', 'at most one join subnet of a family is possible');
};

const gateways: NetConfRule = ({ topology, role, subnets, defaultGatewayIps }) => {
  if (defaultGatewayIps.length === 0) return undefined;
  if (topology !== 'layer2') {
    return broken('defaultGatewayIPs', 'defaultGatewayIPs is for layer2 networks only: each node has another gateway');
  }
  if (role !== 'primary') return broken('defaultGatewayIPs', 'defaultGatewayIPs is only supported for Primary network');
  if (new Set(defaultGatewayIps.map(ipFamily)).size !== defaultGatewayIps.length) {
    return broken('defaultGatewayIPs', 'When 2 IPs are set, they must be from different IP families');
  }
  for (const ip of defaultGatewayIps) {
    const subnet = subnets.find(({ cidr }) => cidrContainsIp(cidr, ip));
    if (subnet === undefined) {
      return broken(
        'defaultGatewayIPs',
        'defaultGatewayIPs must belong to one of the subnets specified in the subnets field',
      );
    }
    const end = endOf(subnet.cidr, ip);
    if (end !== undefined) return broken('defaultGatewayIPs', `${ip} is the ${end} address of ${subnet.cidr}`);
  }
  return undefined;
};

const endOf = (cidr: Cidr, ip: Ip): 'network' | 'broadcast' | undefined => {
  if (addressOf(cidr) === ip) return 'network';
  return cidrFamily(cidr) === 4 && addressAt(cidr, cidrSize(cidr) - 1n) === ip ? 'broadcast' : undefined;
};

/** A gateway, a management port and one pod; none of them has the first address nor, of IPv4, the last. */
const roomForPods: NetConfRule = ({ topology, role, subnets }) => {
  if (topology !== 'layer3' && role !== 'primary') return undefined;
  const small = subnets.find(
    ({ cidr, hostPrefix }) =>
      addressBits(cidrFamily(cidr)) - (hostPrefix ?? prefixLength(cidr)) < (cidrFamily(cidr) === 4 ? 3 : 2),
  );
  if (small === undefined) return undefined;
  const length = small.hostPrefix ?? prefixLength(small.cidr);
  return broken('subnets', `a /${length} of "${small.cidr}" has no address left for pods after the gateway's`);
};

/**
 * What pods never get of a layer-2 subnet: excluded and infrastructure subnets, the ends, gateway and management port. Reserved
 * subnets are not counted: a network whose pods all ask for their addresses may have nothing else.
 */
const roomBesideParts: NetConfRule = (conf) => {
  if (conf.topology !== 'layer2') return undefined;
  const parts = [...conf.infrastructureSubnets, ...conf.excludeSubnets];
  for (const { cidr } of parts.length === 0 ? [] : conf.subnets) {
    const whole = outermost(parts.filter((part) => cidrContains(cidr, part)));
    const taken = whole.reduce((sum, part) => sum + cidrSize(part), 0n);
    const own = new Set(ownAddresses(conf, cidr).filter((ip) => !whole.some((part) => cidrContainsIp(part, ip))));
    if (whole.length === 0 || cidrSize(cidr) > taken + BigInt(own.size)) continue;
    const isInfrastructure = conf.infrastructureSubnets.some((part) => whole.includes(part));
    const [field, what] = isInfrastructure
      ? ['infrastructureSubnets', 'infrastructure']
      : ['excludeSubnets', 'excluded'];
    return broken(field, `the ${what} subnets leave no address of "${cidr}" for pods`);
  }
  return undefined;
};

const outermost = (parts: readonly Cidr[]): readonly Cidr[] => {
  const distinct = [...new Set(parts)];
  return distinct.filter((part) => !distinct.some((other) => other !== part && cidrContains(other, part)));
};

const ownAddresses = (conf: NetConf, cidr: Cidr): readonly Ip[] => [
  ...(cidrSize(cidr) > 2n ? [addressOf(cidr)] : []),
  ...(cidrSize(cidr) > 2n && cidrFamily(cidr) === 4 ? [addressAt(cidr, cidrSize(cidr) - 1n)] : []),
  ...(conf.role === 'primary' ? [gatewayIp(conf, cidr), managementIp(conf, cidr)] : []),
];

/** The first address is the router's of the whole network, those from the second on are its nodes'. */
const roomForNodes: NetConfRule = ({ joinSubnets: join, transitSubnets }) => {
  const isSmall = (cidr: Cidr): boolean => addressBits(cidrFamily(cidr)) - prefixLength(cidr) < NODE_BITS;
  const smallJoin = join.find(isSmall);
  if (smallJoin !== undefined) return broken('joinSubnet', `${smallJoin} has no room for the nodes of a cluster`);
  const smallTransit = transitSubnets.find(isSmall);
  if (smallTransit === undefined) return undefined;
  return broken('transitSubnet', `${smallTransit} has no room for the nodes of a cluster`);
};

/** Hosts neither send to them nor accept them as their own: RFC 6890 and RFC 4291, sections 2.4 and 2.5.6. */
const NOT_FOR_HOSTS = [
  ['0.0.0.0/8', '"this network" addresses'],
  ['127.0.0.0/8', 'loopback addresses'],
  ['224.0.0.0/4', 'multicast addresses'],
  ['::/127', 'the unspecified and the loopback address'],
  ['fe80::/10', 'link-local addresses'],
  ['ff00::/8', 'multicast addresses'],
].map(([cidr = '', what = '']) => ({ cidr: parseCidr(cidr), what }));

const hostAddresses: NetConfRule = ({ subnets, joinSubnets: join, transitSubnets }) => {
  const ranges = [
    ...subnets.map(({ cidr }) => ({ field: 'subnets', cidr })),
    ...join.map((cidr) => ({ field: 'joinSubnet', cidr })),
    ...transitSubnets.map((cidr) => ({ field: 'transitSubnet', cidr })),
  ];
  for (const { field, cidr } of ranges) {
    const special = NOT_FOR_HOSTS.find((one) => cidrsOverlap(one.cidr, cidr));
    if (special !== undefined) return broken(field, `"${cidr}" has ${special.what} (${special.cidr})`);
  }
  return undefined;
};

/** As in the CRD: RFC 791 has every host take 576 bytes. */
const smallMtu: NetConfRule = ({ mtu }) =>
  mtu !== undefined && mtu < 576 ? broken('mtu', `mtu: must be at least 576, is ${mtu}`) : undefined;

const ipv6Mtu: NetConfRule = ({ mtu, subnets }) =>
  mtu !== undefined && mtu < 1280 && subnets.some(({ cidr }) => cidrFamily(cidr) === 6)
    ? broken('mtu', 'MTU should be greater than or equal to 1280 when IPv6 subnet is used')
    : undefined;

const RULES: readonly NetConfRule[] = [
  localnet,
  persistentIps,
  subnetsPresent,
  hostSubnets,
  oneSubnetPerFamily,
  ownSubnetsOverlap,
  partsAreContained,
  joinSubnets,
  gateways,
  roomForPods,
  roomBesideParts,
  roomForNodes,
  hostAddresses,
  smallMtu,
  ipv6Mtu,
];
