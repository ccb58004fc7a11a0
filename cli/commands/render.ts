/** `udnctl render`: what a node would be programmed with, from manifests. */

import type { GatewayFact } from '../../agent/model/facts.ts';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import type { TunnelEncryption } from '../../agent/model/view.ts';
import { DEFAULT_ENCRYPTION_FILES } from '../../agent/options/encryption.ts';
import type { RenderDocument } from '../../agent/render/document.ts';
import { renderNode } from '../../agent/render/render-node.ts';
import { parseAllowedServices } from '../../api/allowed-services.ts';
import {
  CLUSTER_SETTINGS,
  type ClusterConfig,
  type ClusterSetting,
  parseClusterConfig,
} from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { completeManifests } from '../../cluster-manager/offline/complete-manifests.ts';
import type { KubeObject } from '../../kube/types.ts';
import { CliError } from '../errors.ts';
import { withNodeDefaults } from './node-defaults.ts';

const KUBELET_CGROUP = 'kubeletCgroup';
const BRIDGE_MAPPINGS = 'bridgeMappings';
const NETWORK_RENDERING = 'networkRendering';
const ALLOWED_SERVICES = 'allowedDefaultServices';
const CONNECTIONS = 'connectionsPerNetwork';
const ENCRYPTION = 'encryption';
const RENDERINGS = ['always', 'on-demand'] as const;

export type RenderOutput = RenderDocument;

export interface RenderRequest {
  /** Parsed manifests. */
  readonly objects: readonly unknown[];
  /** What was wrong with the input so far. */
  readonly diagnostics?: readonly Diagnostic[];
  readonly node: string;
  readonly cluster: ClusterConfig;
  /** Instead of what the node's annotation says. */
  readonly gatewayMode?: GatewayFact['mode'] | undefined;
  /** Of the node, below the root of cgroup v2. */
  readonly kubeletCgroup?: string | undefined;
  /** Of physical networks of the node, as `ovn-bridge-mappings` has them. Default: the gateway bridge for `physnet`. */
  readonly bridgeMappings?: string | undefined;
  /** Default: always. */
  readonly networkRendering?: (typeof RENDERINGS)[number] | undefined;
  /** Default: those of an agent without options. */
  readonly allowedDefaultServices?: readonly string[] | undefined;
  /** Default: none, as it follows from the node's kernel. */
  readonly connectionLimit?: number | undefined;
  /** Default: tunnels are not encrypted. */
  readonly encryption?: TunnelEncryption | undefined;
}

/** @throws CliError when the node is not in the input */
export const render = (request: RenderRequest): RenderOutput => {
  const { objects, diagnostics: given = [], node, cluster, ...local } = request;
  const completed = completeManifests(objects, cluster);
  const { manifests, diagnostics } = withNodeDefaults(completed.objects.map(asStored));
  if (!manifests.some(({ kind, metadata }) => kind === 'Node' && metadata.name === node)) {
    throw new CliError(noNode(node, [...given, ...completed.diagnostics.filter(isOfNode)]));
  }
  const document = renderNode({ ...local, objects: manifests, node, cluster });
  return {
    ...document,
    diagnostics: sorted([...given, ...completed.diagnostics, ...diagnostics, ...document.diagnostics]),
  };
};

/** It may be in what could not be read. */
const noNode = (node: string, diagnostics: readonly Diagnostic[]): string => {
  const unread = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ object, message }) => `${object}: ${message}`);
  const absent = `no Node "${node}" in ${unread.length === 0 ? 'the input' : 'the rest of the input'}`;
  return [...unread, absent].join('; ');
};

const isOfNode = ({ object }: Diagnostic): boolean => object.startsWith('Node');

/** What several of the programs would say is said once, as the worst of them says it. */
const sorted = (diagnostics: readonly Diagnostic[]): Diagnostic[] => {
  const worst = new Map<string, Diagnostic>();
  for (const one of diagnostics) {
    const key = `${one.object}\u0000${one.message}`;
    const before = worst.get(key);
    if (before === undefined || SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(before.severity)) {
      worst.set(key, one);
    }
  }
  return [...worst.values()].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
};

const SEVERITIES: readonly Diagnostic['severity'][] = ['error', 'warning', 'info'];

const textOf = ({ object, severity, message }: Diagnostic): string => `${object} ${severity} ${message}`;

/** Exit status 1: something could not be rendered. */
export const hasErrors = ({ diagnostics }: Pick<RenderOutput, 'diagnostics'>): boolean =>
  diagnostics.some(({ severity }) => severity === 'error');

/** What `--set` may set. The last six are no settings of the cluster but of the node and its agent. */
export const RENDER_SETTINGS: readonly string[] = [
  ...CLUSTER_SETTINGS.map(({ setting }) => setting),
  KUBELET_CGROUP,
  BRIDGE_MAPPINGS,
  NETWORK_RENDERING,
  ALLOWED_SERVICES,
  CONNECTIONS,
  ENCRYPTION,
];

/** `key=value` of `--set`. @throws CliError, status 2 */
export const clusterFromSettings = (texts: readonly string[]): ClusterConfig => {
  const settings: Partial<Record<ClusterSetting, string>> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    const [key, value] = [text.slice(0, Math.max(equals, 0)), text.slice(equals + 1)];
    const setting = CLUSTER_SETTINGS.find((one) => one.setting === key)?.setting;
    if (setting !== undefined) settings[setting] = value;
    else if (key === KUBELET_CGROUP) refuseNoCgroup(value);
    else if (key === BRIDGE_MAPPINGS) bridgeMappings(value);
    else if (key === NETWORK_RENDERING) refuseNoRendering(value);
    else if (key === ALLOWED_SERVICES) allowedServices(value);
    else if (key === CONNECTIONS) connections(value);
    else if (key === ENCRYPTION) encryption(value);
    else throw new CliError(`--set ${text}: expected one of ${RENDER_SETTINGS.join(', ')} and a value`, 2);
  }
  return withValues(settings);
};

const withValues = (settings: Partial<Record<ClusterSetting, string>>): ClusterConfig => {
  try {
    return parseClusterConfig(settings);
  } catch (error) {
    if (error instanceof ApiError) throw new CliError(`--set: ${error.message}`, 2);
    throw error;
  }
};

/** The last one of `--set`, if any. `clusterFromSettings` refuses what is no path. */
export const kubeletCgroupFromSettings = (texts: readonly string[]): string | undefined =>
  lastOf(KUBELET_CGROUP, texts);

/** The last one of `--set`, if any. @throws CliError, status 2 */
export const bridgeMappingsFromSettings = (texts: readonly string[]): string | undefined => {
  const text = lastOf(BRIDGE_MAPPINGS, texts);
  return text === undefined ? undefined : bridgeMappings(text);
};

const bridgeMappings = (text: string): string => {
  if (/^[^:,\s]+:[^:,\s]+(,[^:,\s]+:[^:,\s]+)*$/.test(text)) return text;
  throw new CliError(`--set ${BRIDGE_MAPPINGS}=${text}: expected NETWORK:BRIDGE,…`, 2);
};

/** The last one of `--set`, if any. `clusterFromSettings` refuses what is none. */
export const networkRenderingFromSettings = (texts: readonly string[]): RenderRequest['networkRendering'] => {
  const text = lastOf(NETWORK_RENDERING, texts);
  return RENDERINGS.find((rendering) => rendering === text);
};

/** The last one of `--set`, if any. @throws CliError, status 2 */
export const allowedServicesFromSettings = (texts: readonly string[]): readonly string[] | undefined => {
  const text = lastOf(ALLOWED_SERVICES, texts);
  return text === undefined ? undefined : allowedServices(text);
};

const allowedServices = (text: string): readonly string[] => {
  try {
    return parseAllowedServices(text);
  } catch (error) {
    if (error instanceof ApiError) throw new CliError(`--set ${ALLOWED_SERVICES}: ${error.message}`, 2);
    throw error;
  }
};

/** The last one of `--set`, if any. @throws CliError, status 2 */
export const connectionLimitFromSettings = (texts: readonly string[]): number | undefined => {
  const text = lastOf(CONNECTIONS, texts);
  return text === undefined ? undefined : connections(text) || undefined;
};

const connections = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`--set ${CONNECTIONS}=${text}: expected a number`, 2);
};

/** The last one of `--set`, if any, with the agents' default files. @throws CliError, status 2 */
export const encryptionFromSettings = (texts: readonly string[]): TunnelEncryption | undefined => {
  const text = lastOf(ENCRYPTION, texts);
  return text === undefined ? undefined : encryption(text);
};

const encryption = (text: string): TunnelEncryption | undefined => {
  if (text === 'none') return undefined;
  if (text === 'ipsec') return DEFAULT_ENCRYPTION_FILES;
  throw new CliError(`--set ${ENCRYPTION}=${text}: expected none or ipsec`, 2);
};

const lastOf = (setting: string, texts: readonly string[]): string | undefined =>
  texts.findLast((text) => text.startsWith(`${setting}=`))?.slice(setting.length + 1);

const refuseNoRendering = (text: string): void => {
  if (RENDERINGS.some((rendering) => rendering === text)) return;
  throw new CliError(`--set ${NETWORK_RENDERING}=${text}: expected ${RENDERINGS.join(' or ')}`, 2);
};

/** A path below the root, as cgroups(7) has it. */
const refuseNoCgroup = (path: string): void => {
  const isName = (part: string): boolean => part !== '' && part !== '.' && part !== '..';
  if (path.split('/').every(isName)) return;
  throw new CliError(
    `--set ${KUBELET_CGROUP}=${path}: expected a path below the root of the cgroups, without / in front`,
    2,
  );
};

/** Sections with one line per row, flow or item, for people. */
export const formatText = (output: RenderOutput): string => {
  const databases = (['northbound', 'southbound', 'openvswitch'] as const).flatMap((database) =>
    Object.entries(output[database]).flatMap(([table, rows]) => section(`${database} ${table}`, rows.map(fieldsText))),
  );
  const bridges = (['openflow', 'openflowGroups', 'noFlood'] as const).flatMap((part) =>
    Object.entries(output[part]).flatMap(([bridge, lines]) => section(`${part} ${bridge}`, lines)),
  );
  const host = (['links', 'addresses', 'routes', 'rules', 'neighbours', 'filters'] as const).flatMap((part) =>
    section(part, output[part].map(fieldsText)),
  );
  const sysctls = Object.entries(output.sysctls).map(([name, value]) => `${name} = ${value}`);
  const diagnostics = output.diagnostics.map(({ severity, object, message }) => `${severity}: ${object}: ${message}`);
  const lines = [
    ...databases,
    ...bridges,
    ...host,
    ...section('sysctls', sysctls),
    ...section('nftables', [output.nftables.trimEnd()]),
    '# diagnostics',
    ...diagnostics,
  ];
  return `${lines.join('\n')}\n`;
};

const section = (title: string, lines: readonly string[]): string[] => [`# ${title}`, ...lines, ''];

const fieldsText = (row: Readonly<Record<string, unknown>>): string =>
  Object.entries(row)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');

/** What an API server would have filled in. */
const asStored = (manifest: object): KubeObject => {
  const object = manifest as KubeObject;
  const { name, uid, resourceVersion } = object.metadata;
  return { ...object, metadata: { ...object.metadata, uid: uid ?? name, resourceVersion: resourceVersion ?? '0' } };
};
