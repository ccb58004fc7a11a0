/**
 * What has to be the same in every program of a cluster: its address ranges and its MTU. Each setting is a text, as it
 * comes from a flag, an environment variable or `--set`, and has a default.
 */

import { messageOf } from '../base/error-message.ts';
import type { SubnetRange } from '../net/allocator/subnets.ts';
import { addressAt, type Cidr, cidrFamily, cidrsOverlap, networkOf, parseCidr, prefixLength } from '../net/cidr.ts';
import { addressBits, type Family, type Ip } from '../net/ip.ts';
import { ApiError } from './errors.ts';
import { commaList } from './scalars.ts';

export interface ClusterConfig {
  /** Of the default network, each with the prefix length of the part that a node gets. */
  readonly clusterSubnets: readonly SubnetRange[];
  readonly serviceSubnets: readonly Cidr[];
  /** Of the default network; at most one per family. */
  readonly joinSubnets: readonly Cidr[];
  /** Of primary user-defined networks that name none; one per family. */
  readonly udnJoinSubnets: readonly Cidr[];
  readonly transitSubnets: readonly Cidr[];
  readonly masqueradeSubnets: readonly Cidr[];
  /** Of pods on networks that name none. */
  readonly mtu: number;
  /** Pods may be on secondary networks of other namespaces (`mayAttach`). */
  readonly crossNamespaceAttachments: boolean;
}

export type ClusterSetting = keyof ClusterConfig;

export interface ClusterSettingDescription {
  readonly setting: ClusterSetting;
  /** `--cluster-subnets` */
  readonly flag: string;
  /** `UDN_CLUSTER_SUBNETS` */
  readonly env: string;
  readonly defaultText: string;
  readonly help: string;
}

const describe = (
  setting: ClusterSetting,
  flag: string,
  defaultText: string,
  help: string,
): ClusterSettingDescription => ({
  setting,
  flag,
  env: `UDN_${flag.replaceAll('-', '_').toUpperCase()}`,
  defaultText,
  help,
});

/** In the order in which `--help` shows them. */
export const CLUSTER_SETTINGS: readonly ClusterSettingDescription[] = [
  describe(
    'clusterSubnets',
    'cluster-subnets',
    '10.128.0.0/14/23',
    'pod subnets of the default network, CIDR/prefix-per-node, comma list',
  ),
  describe('serviceSubnets', 'service-subnets', '172.16.1.0/24', 'service CIDRs of the cluster'),
  describe('joinSubnets', 'join-subnets', '100.64.0.0/16,fd98::/64', 'join subnets of the default network'),
  describe(
    'udnJoinSubnets',
    'udn-join-subnets',
    '100.65.0.0/16,fd99::/64',
    'join subnets of user-defined networks that name none',
  ),
  describe('transitSubnets', 'transit-subnets', '100.88.0.0/16,fd97::/64', 'subnets between the zones of the nodes'),
  describe(
    'masqueradeSubnets',
    'masquerade-subnets',
    '169.254.0.0/17,fd69::/112',
    'addresses with meaning on one node only; two per network',
  ),
  describe('mtu', 'mtu', '1400', 'MTU of pods on networks that name none'),
  describe(
    'crossNamespaceAttachments',
    'cross-namespace-attachments',
    'false',
    'true: pods may select secondary networks of all namespaces, so that every tenant can use every one',
  ),
];

/** @throws ApiError ERR_API_FIELD, or ERR_API_OVERLAP when two of the ranges overlap; `field` is the setting */
export const parseClusterConfig = (
  settings: Readonly<Partial<Record<ClusterSetting, string | undefined>>> = {},
): ClusterConfig => {
  const text = (setting: ClusterSetting): string =>
    settings[setting] ?? CLUSTER_SETTINGS.find((one) => one.setting === setting)?.defaultText ?? '';
  const config: ClusterConfig = {
    clusterSubnets: readClusterSubnets(text('clusterSubnets')),
    serviceSubnets: readOnePerFamily('serviceSubnets', text('serviceSubnets')),
    joinSubnets: readOnePerFamily('joinSubnets', text('joinSubnets')),
    udnJoinSubnets: readOnePerFamily('udnJoinSubnets', text('udnJoinSubnets')),
    transitSubnets: readOnePerFamily('transitSubnets', text('transitSubnets')),
    masqueradeSubnets: readOnePerFamily('masqueradeSubnets', text('masqueradeSubnets')),
    mtu: readMtu(text('mtu')),
    crossNamespaceAttachments: readBoolean('crossNamespaceAttachments', text('crossNamespaceAttachments')),
  };
  for (const setting of ['joinSubnets', 'udnJoinSubnets', 'transitSubnets', 'masqueradeSubnets'] as const) {
    refuseSmall(setting, config[setting]);
  }
  refuseOverlaps(config);
  return config;
};

/** Settings from flags (as `node:util` parseArgs returns them) and, where a flag is absent, from the environment. */
export const clusterSettingsFrom = (
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Partial<Record<ClusterSetting, string>> => {
  const settings: Partial<Record<ClusterSetting, string>> = {};
  for (const { setting, flag, env: variable } of CLUSTER_SETTINGS) {
    const value = flags[flag] ?? env[variable];
    if (typeof value === 'string' && value !== '') settings[setting] = value;
  }
  return settings;
};

/** The settings' texts again: what parses to an equal config. */
export const formatClusterConfig = (config: ClusterConfig): Record<ClusterSetting, string> => ({
  clusterSubnets: config.clusterSubnets.map(({ cidr, hostPrefix }) => `${cidr}/${hostPrefix}`).join(','),
  serviceSubnets: config.serviceSubnets.join(','),
  joinSubnets: config.joinSubnets.join(','),
  udnJoinSubnets: config.udnJoinSubnets.join(','),
  transitSubnets: config.transitSubnets.join(','),
  masqueradeSubnets: config.masqueradeSubnets.join(','),
  mtu: String(config.mtu),
  crossNamespaceAttachments: String(config.crossNamespaceAttachments),
});

/**
 * The fixed addresses of the masquerade subnet, by their offset. Two per network follow from offset 11 on.
 * Sources: reference addresses of a cluster that moves over; they must not change.
 */
export const MASQUERADE_OFFSETS = {
  ovn: 1,
  host: 2,
  hostEtpLocal: 3,
  dummyNextHop: 4,
  serviceHairpin: 5,
  /** To ports of pods (`hostPort`), where the host sends what its processes send to the node's own address. */
  hostPorts: 6,
  /** The same of loopback addresses: the two are a /31. */
  loopbackHostPorts: 7,
} as const;

/** Of the two fixed addresses for ports of pods. */
export const hostPortSubnet = (masqueradeSubnet: Cidr): Cidr =>
  networkOf(addressAt(masqueradeSubnet, MASQUERADE_OFFSETS.hostPorts), addressBits(cidrFamily(masqueradeSubnet)) - 1);

/** One fixed masquerade address per family that the config has. */
export const masqueradeAddresses = (config: ClusterConfig, which: MasqueradeName): readonly Ip[] => {
  const known = masqueradesOf.get(config) ?? new Map<MasqueradeName, readonly Ip[]>();
  masqueradesOf.set(config, known);
  const addresses =
    known.get(which) ?? config.masqueradeSubnets.map((subnet) => addressAt(subnet, MASQUERADE_OFFSETS[which]));
  known.set(which, addresses);
  return addresses;
};

type MasqueradeName = keyof typeof MASQUERADE_OFFSETS;

/** Asked for with every load balancer, and the same for as long as the settings live. */
const masqueradesOf = new WeakMap<ClusterConfig, Map<MasqueradeName, readonly Ip[]>>();

const readClusterSubnets = (text: string): SubnetRange[] => {
  const ranges = commaList(text).map(readClusterSubnet);
  if (ranges.length === 0) throw fieldError('clusterSubnets', 'at least one subnet is needed');
  return ranges;
};

const readClusterSubnet = (text: string): SubnetRange => {
  const [, network = text, length] = /^([^/]+\/[0-9]+)(?:\/([0-9]+))?$/.exec(text) ?? [];
  const cidr = readCidr('clusterSubnets', network);
  const hostPrefix = length === undefined ? DEFAULT_HOST_PREFIX[cidrFamily(cidr)] : Number(length);
  if (hostPrefix <= prefixLength(cidr) || hostPrefix > maxHostPrefix(cidr)) {
    throw fieldError(
      'clusterSubnets',
      `"${text}" gives each node a /${hostPrefix}, which must be longer than the /${prefixLength(cidr)} it is cut from and at most /${maxHostPrefix(cidr)}`,
    );
  }
  return { cidr, hostPrefix };
};

/** Prefix length of a node's part where a subnet does not say. */
export const DEFAULT_HOST_PREFIX: Readonly<Record<Family, number>> = { 4: 24, 6: 64 };

/** A node's part has a gateway, a management port and pods: at least three host bits; IPv6 parts are /64 at most. */
const maxHostPrefix = (cidr: Cidr): number => (cidrFamily(cidr) === 6 ? 64 : addressBits(4) - 3);

const readOnePerFamily = (setting: ClusterSetting, text: string): Cidr[] => {
  const cidrs = commaList(text).map((item) => readCidr(setting, item));
  if (new Set(cidrs.map(cidrFamily)).size !== cidrs.length) {
    throw fieldError(setting, `"${text}" has more than one subnet of a family`);
  }
  if (cidrs.length === 0) throw fieldError(setting, 'at least one subnet is needed');
  return cidrs.sort((a, b) => cidrFamily(a) - cidrFamily(b));
};

/**
 * The least number of host bits of subnets with an address for every node; a node whose id does not fit gets an event.
 * The fixed addresses of the masquerade subnet need as many.
 */
export const NODE_BITS = 3;

const refuseSmall = (setting: ClusterSetting, cidrs: readonly Cidr[]): void => {
  const small = cidrs.find((cidr) => addressBits(cidrFamily(cidr)) - prefixLength(cidr) < NODE_BITS);
  if (small === undefined) return;
  throw fieldError(
    setting,
    `${small} is too small, at most a /${addressBits(cidrFamily(small)) - NODE_BITS} is possible`,
  );
};

const readBoolean = (setting: ClusterSetting, text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw fieldError(setting, `"${text}" is neither true nor false`);
  return text === 'true';
};

const readMtu = (text: string): number => {
  const mtu = /^[0-9]{3,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(mtu >= 576 && mtu <= 65_536)) throw fieldError('mtu', `"${text}" is not an MTU (576–65536)`);
  return mtu;
};

const readCidr = (setting: ClusterSetting, text: string): Cidr => {
  try {
    return parseCidr(text);
  } catch (cause) {
    throw fieldError(setting, messageOf(cause));
  }
};

const refuseOverlaps = (config: ClusterConfig): void => {
  const ranges = (Object.keys(config) as ClusterSetting[]).flatMap((setting) => rangesOf(config, setting));
  for (const [position, a] of ranges.entries()) {
    const b = ranges.slice(position + 1).find(({ cidr }) => cidrsOverlap(a.cidr, cidr));
    if (b === undefined) continue;
    throw new ApiError('ERR_API_OVERLAP', `${a.setting} ${a.cidr} overlaps ${b.setting} ${b.cidr}`, {
      object: 'cluster configuration',
      field: b.setting,
    });
  }
};

const rangesOf = (config: ClusterConfig, setting: ClusterSetting): { setting: ClusterSetting; cidr: Cidr }[] => {
  if (setting === 'mtu' || setting === 'crossNamespaceAttachments') return [];
  if (setting === 'clusterSubnets') return config.clusterSubnets.map(({ cidr }) => ({ setting, cidr }));
  return config[setting].map((cidr) => ({ setting, cidr }));
};

const fieldError = (setting: ClusterSetting, message: string): ApiError =>
  new ApiError('ERR_API_FIELD', `${setting}: ${message}`, { object: 'cluster configuration', field: setting });
