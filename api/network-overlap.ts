/** Ranges that a network may not use because the cluster, or the network itself, uses them already. */
import { type Cidr, cidrContains, cidrFamily, cidrsOverlap, prefixLength, subnetAt } from '../net/cidr.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { ApiError } from './errors.ts';
import type { NetConf } from './net-conf.ts';
import type { Network } from './network.ts';

/**
 * User-defined networks may overlap each other, but none of the ranges that every pod reaches beside its own network.
 * @throws ApiError ERR_API_OVERLAP
 */
export const refuseOverlaps = (conf: NetConf, config: ClusterConfig): void => {
  const pods = conf.subnets.map(({ cidr }): Range => ({ what: 'user defined subnet', cidr, field: 'subnets' }));
  const joins = conf.joinSubnets.map(
    (cidr): Range => ({ what: 'user defined join subnet', cidr, field: 'joinSubnet' }),
  );
  const cluster = clusterRanges(conf, config);
  for (const [position, range] of [...pods, ...joins].entries()) {
    const others = position < pods.length ? [...joins, ...cluster] : cluster;
    const other = others.find(({ cidr }) => overlapsUnlessExcluded(range.cidr, cidr, conf.excludeSubnets));
    if (other === undefined) continue;
    throw new ApiError('ERR_API_OVERLAP', `${range.what} "${range.cidr}" overlaps ${other.what} "${other.cidr}"`, {
      object: `network ${conf.name}`,
      field: range.field,
    });
  }
};

/** What pods of both networks may be given, where nobody tells them apart. */
export const sharedSubnets = (
  a: Pick<Network, 'subnets' | 'excludedSubnets'>,
  b: Pick<Network, 'subnets' | 'excludedSubnets'>,
): Cidr[] => {
  const excluded = [...a.excludedSubnets, ...b.excludedSubnets];
  return a.subnets
    .flatMap((one) => b.subnets.flatMap((other) => commonOf(one.cidr, other.cidr) ?? []))
    .filter((common) => !isCovered(common, excluded));
};

const isCovered = (cidr: Cidr, parts: readonly Cidr[]): boolean => {
  const inside = parts.filter((part) => cidrsOverlap(part, cidr));
  if (inside.some((part) => cidrContains(part, cidr))) return true;
  if (inside.length === 0) return false;
  return [0, 1].every((half) => isCovered(subnetAt(cidr, prefixLength(cidr) + 1, half), inside));
};

interface Range {
  readonly what: string;
  readonly cidr: Cidr;
  readonly field: string;
}

const clusterRanges = (conf: NetConf, config: ClusterConfig): Range[] => {
  const named = (what: string, cidrs: readonly Cidr[]): Range[] => cidrs.map((cidr) => ({ what, cidr, field: '' }));
  return [
    ...named(
      'cluster subnet',
      config.clusterSubnets.map(({ cidr }) => cidr),
    ),
    ...named('service subnet', config.serviceSubnets),
    ...named('built-in join subnet', config.joinSubnets),
    ...named('masquerade subnet', config.masqueradeSubnets),
    // That of the cluster is for layer 3; the one of a layer-2 network moves out of the way, unless it was named.
    ...named('transit switch subnet', conf.topology === 'layer3' ? config.transitSubnets : conf.transitSubnets),
    // Used by primary networks that name none of that family.
    ...named('user defined join subnet', conf.role === 'primary' ? defaultJoinSubnets(conf, config) : []),
  ];
};

const defaultJoinSubnets = (conf: NetConf, config: ClusterConfig): Cidr[] =>
  config.udnJoinSubnets.filter((cidr) => !conf.joinSubnets.some((own) => cidrFamily(own) === cidrFamily(cidr)));

/** The longer one. */
const commonOf = (a: Cidr, b: Cidr): Cidr | undefined => {
  if (!cidrsOverlap(a, b)) return undefined;
  return prefixLength(a) > prefixLength(b) ? a : b;
};

/** Nobody gets an address of it when that is excluded. */
const overlapsUnlessExcluded = (a: Cidr, b: Cidr, excluded: readonly Cidr[]): boolean => {
  const common = commonOf(a, b);
  return common !== undefined && !excluded.some((part) => cidrContains(part, common));
};
