/**
 * `k8s.ovn.org/pod-networks` of a Pod: its addresses on every network, by NAD key, `default` for the default network. The
 * node's agent and the cluster manager each write their own keys.
 */
import { z } from 'zod';
import { addressOf, type Cidr, cidrFamily, type InterfaceAddress, prefixLength } from '../../net/cidr.ts';
import type { PortKey } from '../../net/ids.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { type Mac, macFromIp } from '../../net/mac.ts';
import { POD_ANNOTATIONS } from '../names.ts';
import { parseJson, parseWith } from '../parse.ts';
import {
  cidrSchema,
  interfaceAddressSchema,
  ipSchema,
  linkLocalSchema,
  portKeySchema,
  unicastMacSchema,
} from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';
import { usualPodNetworkEntry } from './usual-pod-network.ts';

/**
 * `infrastructure-locked`: the default network of a pod whose primary network is a user-defined one; for kubelet's probes
 * and little else.
 */
export type PodNetworkRole = 'primary' | 'secondary' | 'infrastructure-locked';

export interface PodRoute {
  readonly dest: Cidr;
  /** Absent: on the link. */
  readonly nextHop?: Ip | undefined;
}

export interface PodNetworkEntry {
  /** With the prefix length of the subnet; empty on a network without IPAM. */
  readonly ipAddresses: readonly InterfaceAddress[];
  readonly mac: Mac;
  /** Default gateways, at most one per family. */
  readonly gatewayIps: readonly Ip[];
  readonly routes: readonly PodRoute[];
  /** Link-local address of the gateway of a primary layer-2 network with IPv6. */
  readonly ipv6LlaGatewayIp?: Ip | undefined;
  /** Key of the pod's port on a layer-2 network. */
  readonly tunnelId?: PortKey | undefined;
  /** Absent in what old programs wrote. */
  readonly role?: PodNetworkRole | undefined;
}

export type PodNetworks = ReadonlyMap<string, PodNetworkEntry>;

/** @param pod `namespace/name`, for errors @throws ApiError that names the key and the field */
export const parsePodNetworks = (text: string, pod: string): PodNetworks => {
  const value = parseJson(text, objectOf(pod));
  return usualPodNetworks(value) ?? new Map(Object.entries(parseWith(networksSchema, value, objectOf(pod))));
};

const usualPodNetworks = (value: unknown): PodNetworks | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const networks = new Map<string, PodNetworkEntry>();
  for (const [key, one] of Object.entries(value)) {
    const entry = key === '__proto__' ? undefined : usualPodNetworkEntry(one);
    if (entry === undefined) return undefined;
    networks.set(key, entry);
  }
  return networks;
};

/** The value of one key, for who must not fail because of another's. @throws ApiError */
export const parsePodNetworkEntry = (value: unknown, pod: string): PodNetworkEntry =>
  usualPodNetworkEntry(value) ?? parseWith(entrySchema, value, objectOf(pod));

/** What an entry gives a pod and nobody else. */
export type PodNetworkHold = Pick<PodNetworkEntry, 'ipAddresses' | 'mac' | 'tunnelId'>;

/**
 * Of an entry that is wrong somewhere, what is right: the pod may run with it.
 * @returns undefined without an address
 */
export const readablePodNetworkHold = (value: unknown): PodNetworkHold | undefined => {
  const { ip_addresses: list, ip_address: one, mac_address: mac, tunnel_id: key } = loose.catch({}).parse(value);
  const ipAddresses = [list ?? one].flat().flatMap((item) => interfaceAddressSchema.safeParse(item).data ?? []);
  const first = ipAddresses.find((address) => cidrFamily(address) === 4) ?? ipAddresses[0];
  if (first === undefined) return undefined;
  return {
    ipAddresses,
    // That of the address, as nearly always.
    mac: unicastMacSchema.safeParse(mac).data ?? macFromIp(addressOf(first)),
    tunnelId: portKeySchema.safeParse(key).data,
  };
};

const loose: z.ZodType<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown());

/** Keys sorted, fields in the order that other readers expect in a diff. */
export const formatPodNetworks = (networks: PodNetworks): string =>
  JSON.stringify(
    Object.fromEntries(
      [...networks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => [key, podNetworkEntryJson(entry)]),
    ),
  );

/** The JSON value of one key, for a patch of that key alone. */
export const podNetworkEntryJson = (entry: PodNetworkEntry): Readonly<Record<string, unknown>> =>
  withoutUndefined({
    ip_addresses: entry.ipAddresses,
    mac_address: entry.mac,
    gateway_ips: noneIfEmpty(entry.gatewayIps),
    routes: noneIfEmpty(entry.routes.map(({ dest, nextHop }) => ({ dest, nextHop: nextHop ?? '' }))),
    ip_address: onlyOne(entry.ipAddresses),
    gateway_ip: onlyOne(entry.gatewayIps),
    ipv6_lla_gateway_ip: entry.ipv6LlaGatewayIp,
    tunnel_id: entry.tunnelId,
    role: entry.role,
  });

const objectOf = (pod: string): string => annotationOf('Pod', POD_ANNOTATIONS.networks, pod);

const onlyOne = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

const noneIfEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length === 0 ? undefined : items;

const withoutUndefined = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));

const optional = <Schema extends z.ZodType>(item: Schema) =>
  z.preprocess((value) => (value === '' || value === null || value === 0 ? undefined : value), item.optional());

const routeSchema = z
  .object({ dest: cidrSchema, nextHop: optional(ipSchema) })
  .superRefine(({ dest, nextHop }, context) => {
    if (prefixLength(dest) === 0) {
      context.addIssue({
        code: 'custom',
        path: ['dest'],
        message: `default route ${dest} should be specified as gateway`,
      });
    }
    if (nextHop !== undefined && ipFamily(nextHop) !== cidrFamily(dest)) {
      context.addIssue({
        code: 'custom',
        path: ['nextHop'],
        message: `next hop ${nextHop} is of another family than destination ${dest}`,
      });
    }
  });

/** Dual stack needs two; other programs that write the annotation may give an interface some more. */
const MAX_ADDRESSES = 16;
/** One for each subnet that is reached elsewhere: far above what a cluster has. */
const MAX_ROUTES = 1024;

const entrySchema = z
  .object({
    ip_addresses: z.array(interfaceAddressSchema).max(MAX_ADDRESSES).nullish(),
    mac_address: unicastMacSchema,
    gateway_ips: z.array(ipSchema).max(MAX_ADDRESSES).nullish(),
    routes: z.array(routeSchema).max(MAX_ROUTES).nullish(),
    ip_address: optional(interfaceAddressSchema),
    gateway_ip: optional(ipSchema),
    ipv6_lla_gateway_ip: optional(linkLocalSchema),
    tunnel_id: optional(portKeySchema),
    role: optional(z.enum(['primary', 'secondary', 'infrastructure-locked'])),
  })
  .superRefine((raw, context) => {
    const agree = (
      one: string | undefined,
      list: readonly string[] | null | undefined,
      name: string,
      names: string,
    ) => {
      if (one === undefined || list === undefined || list === null || list.length === 0 || list[0] === one) return;
      context.addIssue({ code: 'custom', path: [name], message: `"${one}" is not the first of ${names}` });
    };
    agree(raw.ip_address, raw.ip_addresses, 'ip_address', 'ip_addresses');
    agree(raw.gateway_ip, raw.gateway_ips, 'gateway_ip', 'gateway_ips');
  })
  .transform(
    (raw): PodNetworkEntry => ({
      ipAddresses: listOrOne(raw.ip_addresses, raw.ip_address),
      mac: raw.mac_address,
      gatewayIps: listOrOne(raw.gateway_ips, raw.gateway_ip),
      routes: raw.routes ?? [],
      ipv6LlaGatewayIp: raw.ipv6_lla_gateway_ip,
      tunnelId: raw.tunnel_id,
      role: raw.role,
    }),
  );

/** Once: a schema takes longer to make than most texts to read. */
const networksSchema = z.record(z.string(), entrySchema);

const listOrOne = <Item>(list: readonly Item[] | null | undefined, one: Item | undefined): readonly Item[] => {
  if (list !== undefined && list !== null && list.length > 0) return list;
  return one === undefined ? [] : [one];
};
