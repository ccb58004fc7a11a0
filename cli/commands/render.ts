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
  readonly node: string;
  readonly cluster: ClusterConfig;
}

/** @throws CliError when the node is not in the input */
export const render = ({ objects, node, cluster }: RenderRequest): RenderOutput => {
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
    diagnostics: sorted([...completed.diagnostics, ...diagnostics, ...document.diagnostics]),
  };
};

const sorted = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  [...diagnostics].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));

const textOf = ({ object, severity, message }: Diagnostic): string => `${object} ${severity} ${message}`;

/** Exit status 1: something could not be rendered. */
export const hasErrors = ({ diagnostics }: Pick<RenderOutput, 'diagnostics'>): boolean =>
  diagnostics.some(({ severity }) => severity === 'error');

/** `key=value` of `--set`. @throws CliError, ApiError */
export const clusterFromSettings = (texts: readonly string[]): ClusterConfig => {
  const settings: Partial<Record<ClusterSetting, string>> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    const key = text.slice(0, equals);
    const setting = CLUSTER_SETTINGS.find((one) => one.setting === key)?.setting;
    if (equals < 0 || setting === undefined) {
      throw new CliError(
        `--set ${text}: expected one of ${CLUSTER_SETTINGS.map((one) => one.setting).join(', ')} and a value`,
      );
    }
    settings[setting] = text.slice(equals + 1);
  }
  return parseClusterConfig(settings);
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
