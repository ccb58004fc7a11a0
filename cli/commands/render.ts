/** `udnctl render`: what a node would be programmed with, from manifests. */

import { stringify } from 'yaml';
import type { GatewayFact } from '../../agent/model/facts.ts';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import type { TunnelEncryption } from '../../agent/model/view.ts';
import type { RenderDocument } from '../../agent/render/document.ts';
import { renderNode } from '../../agent/render/render-node.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { completeManifests } from '../../cluster-manager/offline/complete-manifests.ts';
import type { KubeObject } from '../../kube/types.ts';
import { CliError } from '../errors.ts';
import { withNodeDefaults } from './node-defaults.ts';
import type { Rendering } from './render-settings.ts';

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
  readonly networkRendering?: Rendering | undefined;
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

export const formatRendered = (output: RenderOutput, format: 'json' | 'yaml' | 'text'): string => {
  if (format === 'text') return formatText(output);
  return format === 'json' ? `${JSON.stringify(output, undefined, 2)}\n` : stringify(output, { lineWidth: 0 });
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
