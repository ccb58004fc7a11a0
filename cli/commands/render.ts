/** `udnctl render`: what a node would be programmed with, from manifests. */

import type { Diagnostic } from '../../agent/model/fragment.ts';
import type { RenderDocument } from '../../agent/render/document.ts';
import { renderNode } from '../../agent/render/render-node.ts';
import {
  CLUSTER_SETTINGS,
  type ClusterConfig,
  type ClusterSetting,
  parseClusterConfig,
} from '../../api/cluster-config.ts';
import { completeManifests } from '../../cluster-manager/offline/complete-manifests.ts';
import type { KubeObject } from '../../kube/types.ts';
import { CliError } from '../errors.ts';
import { withNodeDefaults } from './node-defaults.ts';

const KUBELET_CGROUP = 'kubeletCgroup';

/** The document of the contract: parts that no feature fills yet are there and empty. */
export interface RenderOutput extends RenderDocument {
  readonly openflow: Readonly<Record<string, readonly string[]>>;
  readonly links: readonly unknown[];
  readonly addresses: readonly unknown[];
  readonly routes: readonly unknown[];
  readonly rules: readonly unknown[];
  readonly neighbours: readonly unknown[];
  readonly sysctls: Readonly<Record<string, string>>;
  readonly nftables: string;
}

export interface RenderRequest {
  /** Parsed manifests. */
  readonly objects: readonly unknown[];
  /** What was wrong with the input so far. */
  readonly diagnostics?: readonly Diagnostic[];
  readonly node: string;
  readonly cluster: ClusterConfig;
}

/** @throws CliError when the node is not in the input */
export const render = ({ objects, diagnostics: given = [], node, cluster }: RenderRequest): RenderOutput => {
  const completed = completeManifests(objects, cluster);
  const { manifests, diagnostics } = withNodeDefaults(completed.objects.map(asStored));
  if (!manifests.some(({ kind, metadata }) => kind === 'Node' && metadata.name === node)) {
    throw new CliError(`there is no Node "${node}" in the input`);
  }
  const document = renderNode({ objects: manifests, node, cluster });
  return {
    northbound: document.northbound,
    southbound: document.southbound,
    openvswitch: document.openvswitch,
    openflow: {},
    links: [],
    addresses: [],
    routes: [],
    rules: [],
    neighbours: [],
    sysctls: {},
    nftables: '',
    diagnostics: sorted([...given, ...completed.diagnostics, ...diagnostics, ...document.diagnostics]),
  };
};

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

/** What `--set` may set. The kubelet's cgroup is no setting of the cluster, and no feature needs it yet. */
export const RENDER_SETTINGS: readonly string[] = [...CLUSTER_SETTINGS.map(({ setting }) => setting), KUBELET_CGROUP];

/** `key=value` of `--set`. @throws CliError, ApiError */
export const clusterFromSettings = (texts: readonly string[]): ClusterConfig => {
  const settings: Partial<Record<ClusterSetting, string>> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    const [key, value] = [text.slice(0, Math.max(equals, 0)), text.slice(equals + 1)];
    const setting = CLUSTER_SETTINGS.find((one) => one.setting === key)?.setting;
    if (setting !== undefined) settings[setting] = value;
    else if (key === KUBELET_CGROUP) refuseNoCgroup(value);
    else throw new CliError(`--set ${text}: expected one of ${RENDER_SETTINGS.join(', ')} and a value`);
  }
  return parseClusterConfig(settings);
};

/** A path below the root, as cgroups(7) has it. */
const refuseNoCgroup = (path: string): void => {
  const isName = (part: string): boolean => part !== '' && part !== '.' && part !== '..';
  if (path.split('/').every(isName)) return;
  throw new CliError(
    `--set ${KUBELET_CGROUP}=${path}: expected a path below the root of the cgroups, without / in front`,
  );
};

/** Sections with one line per row, for people. */
export const formatText = (output: RenderOutput): string => {
  const databases = (['northbound', 'southbound', 'openvswitch'] as const).flatMap((database) =>
    Object.entries(output[database]).flatMap(([table, rows]) => [
      `# ${database} ${table}`,
      ...rows.map((row) =>
        Object.entries(row)
          .map(([column, value]) => `${column}=${JSON.stringify(value)}`)
          .join(' '),
      ),
      '',
    ]),
  );
  const diagnostics = output.diagnostics.map(({ severity, object, message }) => `${severity}: ${object}: ${message}`);
  return `${[...databases, '# diagnostics', ...diagnostics].join('\n')}\n`;
};

/** What an API server would have filled in. */
const asStored = (manifest: object): KubeObject => {
  const object = manifest as KubeObject;
  const { name, uid, resourceVersion } = object.metadata;
  return { ...object, metadata: { ...object.metadata, uid: uid ?? name, resourceVersion: resourceVersion ?? '0' } };
};
