/**
 * `spec.config` of a NetworkAttachmentDefinition: the CNI configuration that says what a network is. We render it from
 * UserDefinedNetworks; administrators write it by hand.
 */
import { z } from 'zod';
import { type Cidr, parseMaskedCidr } from '../net/cidr.ts';
import type { Ip } from '../net/ip.ts';
import { asText } from './as-text.ts';
import { canonicalJson } from './canonical-json.ts';
import { ApiError } from './errors.ts';
import { CNI_PLUGIN_TYPE, RESERVED_NETWORK_NAMES } from './names.ts';
import { brokenNetConfRule } from './net-conf-rules.ts';
import type { NetworkSubnet, Topology } from './network.ts';
import { parseWith, readJson } from './parse.ts';
import { commaList, ipSchema, maskedCidrSchema } from './scalars.ts';

export interface NetConf {
  readonly cniVersion: string;
  /** The network's name, the same in every NAD of the network. */
  readonly name: string;
  /** `<namespace>/<name>` of the NAD itself. */
  readonly netAttachDefName: string;
  readonly topology: Topology;
  readonly role: 'primary' | 'secondary';
  readonly mtu?: number | undefined;
  /** `hostPrefix` only where the configuration says it. */
  readonly subnets: readonly NetworkSubnet[];
  readonly excludeSubnets: readonly Cidr[];
  readonly reservedSubnets: readonly Cidr[];
  readonly infrastructureSubnets: readonly Cidr[];
  readonly defaultGatewayIps: readonly Ip[];
  readonly joinSubnets: readonly Cidr[];
  readonly transitSubnets: readonly Cidr[];
  readonly allowPersistentIps: boolean;
  readonly physicalNetworkName?: string | undefined;
  readonly vlanId?: number | undefined;
  /** Absent: Geneve between the nodes. */
  readonly transport?: string | undefined;
  readonly uplink?: string | undefined;
}

/** `namespace/name` of a NAD. */
export interface NadRef {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The network that a NAD defines, or undefined when the NAD is not about a user-defined network of ours: another
 * plugin's, one without a configuration, or one that only names the default network.
 * @throws ApiError when it is ours and wrong; the text is the one users know from other implementations where there is one
 */
export const parseNetConf = (config: string | undefined, nad: NadRef): NetConf | undefined => {
  const object = `NetworkAttachmentDefinition ${nad.namespace}/${nad.name}`;
  const plugin = ourPlugin(readConfig(config ?? '', nad, object));
  if (plugin === undefined || isDefaultNetwork(plugin)) return undefined;
  refuseBeforeSchema(plugin, nad, object);
  const conf = toNetConf(parseWith(netConfSchema, plugin, object));
  const broken = brokenNetConfRule(conf);
  if (broken !== undefined) throw new ApiError('ERR_API_RULE', broken.message, { object, field: broken.field });
  return conf;
};

/**
 * Whether a configuration asks to be the primary network of its namespace: by its type and role alone, also when something
 * else in it is wrong. Readers of other implementations go by these two.
 */
export const saysPrimary = (config: string | undefined, nad: NadRef): boolean => {
  const object = `NetworkAttachmentDefinition ${nad.namespace}/${nad.name}`;
  return ourPlugin(readConfig(config ?? '', nad, object))?.['role'] === 'primary';
};

/** The keys that have a value, sorted: what the API server stores is the same for the same network. */
export const formatNetConf = (conf: NetConf): string =>
  canonicalJson({
    cniVersion: conf.cniVersion,
    type: CNI_PLUGIN_TYPE,
    name: conf.name,
    netAttachDefName: conf.netAttachDefName,
    topology: conf.topology,
    role: conf.role,
    mtu: conf.mtu,
    subnets: joined(conf.subnets.map(formatSubnet)),
    excludeSubnets: joined(conf.excludeSubnets),
    reservedSubnets: joined(conf.reservedSubnets),
    infrastructureSubnets: joined(conf.infrastructureSubnets),
    defaultGatewayIPs: joined(conf.defaultGatewayIps),
    joinSubnet: joined(conf.joinSubnets),
    transitSubnet: joined(conf.transitSubnets),
    allowPersistentIPs: conf.allowPersistentIps || undefined,
    physicalNetworkName: conf.physicalNetworkName,
    vlanID: conf.vlanId,
    transport: conf.transport,
    uplink: conf.uplink,
  });

/** True when both describe the same network. */
export const sameNetwork = (a: NetConf, b: NetConf): boolean => networkText(a) === networkText(b);

/** What a configuration says of its network: NADs of one network may differ in the NAD's own name only. */
export const networkText = (conf: NetConf): string => formatNetConf({ ...conf, cniVersion: '', netAttachDefName: '' });

/**
 * True when both mean the same NAD of the same network, however they write it: other programs order keys and lists their way, name
 * another version of CNI, and leave out what is the default.
 */
export const sameMeaning = (a: NetConf, b: NetConf): boolean => meaningOf(a, b) === meaningOf(b, a);

const meaningOf = (conf: NetConf, other: NetConf): string =>
  formatNetConf({
    ...inAnyOrder(conf),
    // Before it was configured, it was the default.
    transitSubnets: other.transitSubnets.length === 0 ? [] : conf.transitSubnets.toSorted(),
  });

/** Without what has no meaning: the version of CNI, and the order of all lists but `subnets`, which is that of a pod's addresses. */
export const inAnyOrder = (conf: NetConf): NetConf => ({
  ...conf,
  cniVersion: '',
  excludeSubnets: conf.excludeSubnets.toSorted(),
  reservedSubnets: conf.reservedSubnets.toSorted(),
  infrastructureSubnets: conf.infrastructureSubnets.toSorted(),
  joinSubnets: conf.joinSubnets.toSorted(),
});

const joined = (items: readonly string[]): string | undefined => (items.length === 0 ? undefined : items.join(','));

const formatSubnet = ({ cidr, hostPrefix }: NetworkSubnet): string =>
  hostPrefix === undefined ? cidr : `${cidr}/${hostPrefix}`;

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readConfig = (config: string, { namespace, name }: NadRef, object: string): unknown => {
  try {
    return readJson(config);
  } catch (cause) {
    const reason = config.trim() === '' ? 'unexpected end of JSON input' : (cause as Error).message;
    throw new ApiError(
      'ERR_API_SYNTAX',
      `error parsing Network Attachment Definition ${namespace}/${name}: ${reason}`,
      { object, field: 'spec.config', cause },
    );
  }
};

/** The configuration itself, or of a list of plugins the first that is ours, with the list's name and version. */
const ourPlugin = (config: unknown): JsonObject | undefined => {
  if (!isObject(config)) return undefined;
  const { plugins } = config;
  if (!Array.isArray(plugins)) return config['type'] === CNI_PLUGIN_TYPE ? config : undefined;
  const ours = plugins.find((plugin): plugin is JsonObject => isObject(plugin) && plugin['type'] === CNI_PLUGIN_TYPE);
  return ours === undefined ? undefined : { name: config['name'], cniVersion: config['cniVersion'], ...ours };
};

/** Plugins that a list has beside ours, by `type`: libcni would run them one after the other. */
export const pluginsBeside = (config: string | undefined, nad: NadRef): readonly string[] => {
  const value = readConfig(config ?? '', nad, `NetworkAttachmentDefinition ${nad.namespace}/${nad.name}`);
  const plugins = isObject(value) && Array.isArray(value['plugins']) ? value['plugins'] : [];
  const ours = plugins.find((plugin) => isObject(plugin) && plugin['type'] === CNI_PLUGIN_TYPE);
  return plugins.flatMap((plugin: unknown) =>
    plugin === ours ? [] : [isObject(plugin) ? asText(plugin['type'] ?? '') : 'what is no plugin'],
  );
};

const isDefaultNetwork = ({ name, topology }: JsonObject): boolean =>
  (topology === undefined || topology === '') && RESERVED_NETWORK_NAMES.includes(asText(name ?? ''));

const refuseBeforeSchema = (plugin: JsonObject, { namespace, name }: NadRef, object: string): void => {
  const refuse = (message: string, field: string): never => {
    throw new ApiError('ERR_API_RULE', message, { object, field });
  };
  const { name: network, netAttachDefName, ipam, role } = plugin;
  if (typeof network !== 'string' || RESERVED_NETWORK_NAMES.includes(network)) {
    refuse(`invalid name in secondary network netconf (${asText(network ?? '')})`, 'name');
  }
  if (!NETWORK_NAME.test(asText(network))) {
    refuse(`network name "${asText(network)}" has characters other than letters, digits, ".", "_" and "-"`, 'name');
  }
  if (netAttachDefName === undefined || netAttachDefName === '') {
    refuse(`missing NADName in secondary network netconf ${asText(network)}`, 'netAttachDefName');
  }
  if (netAttachDefName !== `${namespace}/${name}`) {
    refuse(
      `net-attach-def name (${namespace}/${name}) is inconsistent with config (${asText(netAttachDefName)})`,
      'netAttachDefName',
    );
  }
  if (isObject(ipam) && Object.keys(ipam).length > 0) {
    refuse('IPAM key is not supported. Use OVN-K provided IPAM via the `subnets` attribute', 'ipam');
  }
  if (role !== undefined && role !== '' && role !== 'primary' && role !== 'secondary') {
    refuse(`invalid network role value ${asText(role)}`, 'role');
  }
};

/** CNI specification, section 1: names end up in file names, and here in names of OVN rows. */
const NETWORK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** As in the CRD. Items are compared with each other: an endless list would keep every reader busy. */
const MAX_ITEMS = 400;

const listOf = <Item>(item: z.ZodType<Item, string>): z.ZodType<readonly Item[]> =>
  z
    .string()
    .optional()
    .transform((text) => commaList(text ?? ''))
    .pipe(z.array(item).max(MAX_ITEMS));

/** `10.0.0.0/16` or `10.0.0.0/16/24` */
const subnetSchema: z.ZodType<NetworkSubnet, string> = z.string().transform((text, context) => {
  const [, network = text, host] = /^([^/]+\/[0-9]+)\/([0-9]+)$/.exec(text) ?? [];
  try {
    const cidr = parseMaskedCidr(network);
    return host === undefined ? { cidr } : { cidr, hostPrefix: Number(host) };
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const textOrNothing = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));

const netConfSchema = z.object({
  cniVersion: z.string().default('0.3.1'),
  name: z.string(),
  netAttachDefName: z.string(),
  topology: z.enum(['layer2', 'layer3', 'localnet']),
  role: z.enum(['primary', 'secondary', '']).optional(),
  mtu: z.int().min(0).max(65_536).optional(),
  subnets: listOf(subnetSchema),
  excludeSubnets: listOf(maskedCidrSchema),
  reservedSubnets: listOf(maskedCidrSchema),
  infrastructureSubnets: listOf(maskedCidrSchema),
  defaultGatewayIPs: listOf(ipSchema),
  joinSubnet: listOf(maskedCidrSchema),
  transitSubnet: listOf(maskedCidrSchema),
  allowPersistentIPs: z.boolean().default(false),
  physicalNetworkName: textOrNothing,
  vlanID: z.int().min(0).max(4094).optional(),
  transport: textOrNothing,
  uplink: textOrNothing,
});

const toNetConf = (raw: z.output<typeof netConfSchema>): NetConf => ({
  cniVersion: raw.cniVersion,
  name: raw.name,
  netAttachDefName: raw.netAttachDefName,
  topology: raw.topology,
  role: raw.role === 'primary' ? 'primary' : 'secondary',
  mtu: raw.mtu === 0 ? undefined : raw.mtu,
  subnets: raw.subnets,
  excludeSubnets: raw.excludeSubnets,
  reservedSubnets: raw.reservedSubnets,
  infrastructureSubnets: raw.infrastructureSubnets,
  defaultGatewayIps: raw.defaultGatewayIPs,
  joinSubnets: raw.joinSubnet,
  transitSubnets: raw.transitSubnet,
  allowPersistentIps: raw.allowPersistentIPs,
  physicalNetworkName: raw.physicalNetworkName,
  vlanId: raw.vlanID === 0 ? undefined : raw.vlanID,
  transport: raw.transport,
  uplink: raw.uplink,
});
