/** What `udnctl render --set` takes: settings of the cluster, the node and its agent. */

import type { TunnelEncryption } from '../../agent/model/view.ts';
import { DEFAULT_ENCRYPTION_FILES } from '../../agent/options/encryption.ts';
import { parseAllowedServices } from '../../api/allowed-services.ts';
import {
  CLUSTER_SETTINGS,
  type ClusterConfig,
  type ClusterSetting,
  parseClusterConfig,
} from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { CliError } from '../errors.ts';

const KUBELET_CGROUP = 'kubeletCgroup';
const BRIDGE_MAPPINGS = 'bridgeMappings';
const NETWORK_RENDERING = 'networkRendering';
const ALLOWED_SERVICES = 'allowedDefaultServices';
const CONNECTIONS = 'connectionsPerNetwork';
const ENCRYPTION = 'encryption';
const RENDERINGS = ['always', 'on-demand'] as const;

export type Rendering = (typeof RENDERINGS)[number];

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
export const networkRenderingFromSettings = (texts: readonly string[]): Rendering | undefined => {
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
