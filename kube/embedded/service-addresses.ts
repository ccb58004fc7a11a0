/** ClusterIPs and node ports. What is in use follows from the Services in the store. */
import {
  type AddressPool,
  addressPool,
  allocateAddress,
  isAddressUsed,
  releaseAddress,
  reserveAddress,
} from '../../net/allocator/addresses.ts';
import { allocateId, idPool, isIdUsed, releaseId, reserveId } from '../../net/allocator/ids.ts';
import { type Cidr, cidrContainsIp, cidrFamily, parseCidr } from '../../net/cidr.ts';
import { isExhausted } from '../../net/errors.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { isRecord, type JsonRecord, recordOr } from '../is-record.ts';
import type { ServiceAddresses } from './definitions/types.ts';
import type { Store } from './store/store.ts';

type Family = 'IPv4' | 'IPv6';

/** `--service-node-port-range` of kube-apiserver. */
const NODE_PORTS = { min: 30_000, max: 32_767 };

export const createServiceAddresses = (store: Store, cidrs: readonly string[]): ServiceAddresses => {
  const ranges = cidrs.map(parseCidr);
  const pools = new Map<Family, AddressPool>(ranges.map((cidr) => [familyOf(cidr), addressPool(cidr)]));
  let ports = idPool(NODE_PORTS.min, NODE_PORTS.max);
  const change = (service: JsonRecord | undefined, action: 'reserve' | 'release'): void => {
    for (const ip of addressesOf(service)) changeAddress(pools, ip, action);
    for (const port of nodePortsOf(service)) {
      const isFree = port >= ports.min && port <= ports.max && !isIdUsed(ports, port);
      if (action === 'release') ports = releaseId(ports, port);
      else if (isFree) ports = reserveId(ports, port);
    }
  };
  store.listen(({ collection, type, stored, previous }) => {
    if (collection !== '/services') return;
    change(previous?.object, 'release');
    if (type !== 'DELETED') change(stored.object, 'reserve');
  });
  return {
    families: ranges.map(familyOf),
    nextClusterIp: (family) => {
      const pool = pools.get(family);
      return pool === undefined ? undefined : unlessExhausted(() => allocateAddress(pool).ip);
    },
    refuseClusterIp: (ip) => refuseAddress(ranges, pools, ip),
    nextNodePort: (taken) =>
      unlessExhausted(() => {
        let free = ports;
        for (const port of taken)
          if (port >= free.min && port <= free.max && !isIdUsed(free, port)) free = reserveId(free, port);
        return allocateId(free).id;
      }),
    refuseNodePort: (port) => {
      if (port < ports.min || port > ports.max)
        return `provided port is not in the valid range (${ports.min}-${ports.max})`;
      return isIdUsed(ports, port) ? 'provided port is already allocated' : undefined;
    },
  };
};

const familyOf = (cidr: Cidr): Family => (cidrFamily(cidr) === 4 ? 'IPv4' : 'IPv6');

const changeAddress = (pools: Map<Family, AddressPool>, ip: Ip, action: 'reserve' | 'release'): void => {
  const family: Family = ip.includes(':') ? 'IPv6' : 'IPv4';
  const pool = pools.get(family);
  if (pool === undefined || !cidrContainsIp(pool.cidr, ip)) return;
  if (action === 'release') pools.set(family, releaseAddress(pool, ip));
  else if (!isAddressUsed(pool, ip)) pools.set(family, reserveAddress(pool, ip));
};

const refuseAddress = (
  ranges: readonly Cidr[],
  pools: ReadonlyMap<Family, AddressPool>,
  text: string,
): string | undefined => {
  const ip = ipOrUndefined(text);
  if (ip === undefined) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  if (!ranges.some((cidr) => cidrContainsIp(cidr, ip))) {
    return `failed to allocate IP ${ip}: the provided IP is not in the valid range (${ranges.join(', ')})`;
  }
  const used = [...pools.values()].some((pool) => isAddressUsed(pool, ip));
  return used ? `failed to allocate IP ${ip}: provided IP is already allocated` : undefined;
};

const addressesOf = (service: JsonRecord | undefined): Ip[] => {
  const { clusterIPs } = recordOr(service?.['spec']);
  return Array.isArray(clusterIPs) ? clusterIPs.flatMap((ip) => ipOrUndefined(String(ip)) ?? []) : [];
};

const nodePortsOf = (service: JsonRecord | undefined): number[] => {
  const { ports, healthCheckNodePort } = recordOr(service?.['spec']);
  const own = (Array.isArray(ports) ? ports.filter(isRecord) : []).map(({ nodePort }) => nodePort);
  return [...own, healthCheckNodePort].filter((port): port is number => typeof port === 'number');
};

const ipOrUndefined = (text: string): Ip | undefined => {
  try {
    return parseIp(text);
  } catch {
    return undefined;
  }
};

const unlessExhausted = <T>(allocate: () => T): T | undefined => {
  try {
    return allocate();
  } catch (error) {
    if (isExhausted(error)) return undefined;
    throw error;
  }
};
