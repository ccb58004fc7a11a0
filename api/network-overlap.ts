/** Ranges that a network may not use because the cluster, or the network itself, uses them already. */
import { type Cidr, cidrContains, cidrFamily, cidrsOverlap, prefixLength } from '../net/cidr.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { ApiError } from './errors.ts';
import type { NetConf } from './net-conf.ts';

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

/** What two prefixes have in common is the longer of them; nobody gets an address of it when that is excluded. */
const overlapsUnlessExcluded = (a: Cidr, b: Cidr, excluded: readonly Cidr[]): boolean => {
  if (!cidrsOverlap(a, b)) return false;
  const common = prefixLength(a) > prefixLength(b) ? a : b;
  return !excluded.some((part) => cidrContains(part, common));
};
