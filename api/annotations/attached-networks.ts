/**
 * `k8s.v1.cni.cncf.io/network-status` of a Pod: what it is attached to, an element for each interface in the order in which they
 * were made (multi-net-spec v1.3, section 5). With Multus in front, that one writes it.
 */
import { z } from 'zod';
import { addressOf } from '../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import { CNI_NETWORK_NAME, DEFAULT_NETWORK_NAME, POD_ANNOTATIONS, parseNadKey } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { ipSchema, macSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';
import type { PodNetworkEntry } from './pod-networks.ts';

/** One element of the annotation. */
export interface AttachedNetwork {
  /** `namespace/name` of the NAD, or `ovn-kubernetes`, the name of the cluster's default network. */
  readonly name: string;
  readonly interface?: string | undefined;
  /** Without prefix lengths. */
  readonly ips?: readonly Ip[] | undefined;
  readonly mac?: Mac | undefined;
  /** Bytes. */
  readonly mtu?: number | undefined;
  /** The pod's default route is by this interface; true of one element. */
  readonly default: boolean;
  readonly dns?: AttachedDns | undefined;
  /** Gateways that the pod has asked for. */
  readonly defaultRoute?: readonly Ip[] | undefined;
  /** Gateways by which the interface has a default route: what Multus writes beside, or instead of `default-route`. */
  readonly gateway?: readonly Ip[] | undefined;
  /** Of a plugin that moves devices; as it is. */
  readonly deviceInfo?: Readonly<Record<string, unknown>> | undefined;
}

interface AttachedDns {
  readonly nameservers?: readonly string[] | undefined;
  readonly domain?: string | undefined;
  readonly search?: readonly string[] | undefined;
  readonly options?: readonly string[] | undefined;
}

/** An interface that was made. */
export interface MadeInterface {
  /** `default`, or the NAD's key: `ns/nad`, `ns/nad/1`. */
  readonly nadKey: string;
  readonly interfaceName: string;
  readonly entry: Pick<PodNetworkEntry, 'ipAddresses' | 'mac' | 'gatewayIps' | 'role'>;
  /** Bytes. */
  readonly mtu: number;
  /** What its selection says of the default route. */
  readonly requestedGateways?: readonly Ip[] | undefined;
}

/** The same interfaces give the same elements. */
export const attachedNetworks = (made: readonly MadeInterface[]): readonly AttachedNetwork[] => {
  const first = defaultOf(made);
  return made.map((one) => {
    const { nadKey, interfaceName, entry, mtu, requestedGateways = [] } = one;
    return {
      name: nadNameOf(nadKey),
      interface: interfaceName,
      ips: entry.ipAddresses.map(addressOf),
      mac: entry.mac,
      mtu,
      default: one === first,
      ...(requestedGateways.length > 0 && { defaultRoute: requestedGateways }),
      ...(entry.gatewayIps.length > 0 && { gateway: entry.gatewayIps }),
    };
  });
};

/**
 * Those of ours, then those of other plugins: the default route may be by one of these, where the pod has asked for it. A default route
 * that a plugin makes unasked changes nothing.
 */
export const withForeign = (
  own: readonly AttachedNetwork[],
  foreign: readonly AttachedNetwork[],
): readonly AttachedNetwork[] => {
  const has = (gateways: readonly Ip[] | undefined, family: Family): boolean =>
    gateways?.some((gateway) => ipFamily(gateway) === family) === true;
  const routed = FAMILIES.map(
    (family) =>
      own.find(({ gateway }) => has(gateway, family)) ?? foreign.find(({ defaultRoute }) => has(defaultRoute, family)),
  );
  const first = routed.find((one) => one !== undefined);
  if (first === undefined || own.includes(first)) return [...own, ...foreign];
  return [...own, ...foreign].map((one) => ({ ...one, default: one === first }));
};

/** As it is written; keys in the order of the specification, so that the same elements are the same text. */
export const formatAttachedNetworks = (networks: readonly AttachedNetwork[]): string =>
  JSON.stringify(
    networks.map(({ name, ips = [], mac, mtu, dns, defaultRoute, gateway, deviceInfo, ...one }) => ({
      name,
      interface: one.interface,
      ...(ips.length > 0 && { ips }),
      mac,
      mtu,
      default: one.default ? true : undefined,
      // Readers of Multus' annotation expect it also when it is empty.
      dns: dns ?? {},
      'default-route': defaultRoute,
      gateway,
      'device-info': deviceInfo,
    })),
  );

/** @param pod `namespace/name` @throws ApiError */
export const parseAttachedNetworks = (text: string, pod: string): readonly AttachedNetwork[] =>
  parseJsonWith(statusSchema, text, annotationOf('Pod', POD_ANNOTATIONS.networkStatus, pod)).map(
    ({ 'default-route': defaultRoute, 'device-info': deviceInfo, default: isDefault = false, ...one }) => ({
      ...one,
      default: isDefault,
      ...(defaultRoute !== undefined && { defaultRoute }),
      ...(deviceInfo !== undefined && { deviceInfo }),
    }),
  );

/** A second attachment has the name of the first: the name is the NAD's. */
export const nadNameOf = (nadKey: string): string => {
  if (nadKey === DEFAULT_NETWORK_NAME) return CNI_NETWORK_NAME;
  const nad = parseNadKey(nadKey);
  return nad === undefined ? nadKey : `${nad.namespace}/${nad.name}`;
};

/** Where the default route is, of IPv4 where there is one; of a pod without any, the network that is its primary one. */
const defaultOf = (made: readonly MadeInterface[]): MadeInterface | undefined => {
  const routed = FAMILIES.map((family) =>
    made.find(({ entry }) => entry.gatewayIps.some((gateway) => ipFamily(gateway) === family)),
  );
  return routed.find((one) => one !== undefined) ?? made.find(({ entry }) => entry.role === 'primary') ?? made[0];
};

const texts = z.array(z.string()).optional();

const statusSchema = z.array(
  z.object({
    name: z.string(),
    interface: z.string().optional(),
    ips: z.array(ipSchema).optional(),
    mac: macSchema.optional(),
    mtu: z.int().min(0).optional(),
    default: z.boolean().optional(),
    dns: z.object({ nameservers: texts, domain: z.string().optional(), search: texts, options: texts }).optional(),
    'default-route': z.array(ipSchema).optional(),
    gateway: z.array(ipSchema).optional(),
    'device-info': z.record(z.string(), z.unknown()).optional(),
  }),
);
