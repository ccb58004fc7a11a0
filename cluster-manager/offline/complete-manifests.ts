/**
 * What the cluster manager would have written on these manifests: NADs, ids, subnets, layer-2 addresses and mirrors of
 * EndpointSlices, given out to objects in the order of their creation. What is written already stays as it is. Pure.
 */

import { parseTransitAddresses } from '../../api/annotations/node-addresses.ts';
import { formatNodeSubnets, parseNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { formatTunnelKeys } from '../../api/annotations/tunnel-keys.ts';
import { canonicalJson } from '../../api/canonical-json.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { NAD_ANNOTATIONS, NODE_ANNOTATIONS, POD_ANNOTATIONS } from '../../api/names.ts';
import { readJson } from '../../api/parse.ts';
import { type Cidr, cidrContains } from '../../net/cidr.ts';
import { type ClaimFacts, claimFacts } from '../facts/claim-facts.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { type NodeFacts, nodeFacts } from '../facts/node-facts.ts';
import { type PodFacts, podFacts } from '../facts/pod-facts.ts';
import { ClusterState, type Problem } from '../state/cluster-state.ts';
import {
  type Diagnostic,
  keyOf,
  type Manifest,
  objectName,
  readFacts,
  readManifests,
  withAnnotations,
} from './manifests.ts';
import { mirrorsOf } from './mirrors.ts';
import { completeNamespaces } from './namespaces.ts';
import { renderNetworks } from './networks.ts';

export interface Completion {
  /** Every object of the input, and the NADs, namespaces and mirrors of EndpointSlices that were missing. */
  readonly objects: readonly Manifest[];
  readonly diagnostics: readonly Diagnostic[];
}

/** @param objects parsed YAML or JSON; an input that is no Kubernetes object is left out, and reported */
export const completeManifests = (objects: readonly unknown[], cluster: ClusterConfig): Completion => {
  const input = readManifests(objects);
  const namespaces = completeNamespaces(input.manifests);
  const networks = renderNetworks(namespaces.manifests, cluster);
  const read = readAll(networks.manifests);
  const state = new ClusterState(cluster);
  const problems = state.recover({
    nads: [...read.nads.values()],
    nodes: [...read.nodes.values()],
    pods: [...read.pods.values()],
    claims: [...read.claims.values()],
    labelsOf: networks.labelsOf,
  });
  const podEntries = allocatePods(state, read.pods, networks.labelsOf);
  const completed = networks.manifests.map((manifest) => completeOne(manifest, state, podEntries.entries));
  const manifests = completed.map(({ manifest }) => manifest);
  const mirrors = mirrorsOf(manifests, state, networks.labelsOf);
  return {
    objects: [...manifests, ...mirrors.manifests],
    diagnostics: [
      ...input.diagnostics,
      ...namespaces.diagnostics,
      ...networks.diagnostics,
      ...read.diagnostics,
      ...problems.map(problemDiagnostic),
      ...nadDiagnostics(state),
      ...nodeDiagnostics(state, read.nodes),
      ...podEntries.diagnostics,
      ...completed.flatMap(({ diagnostics }) => diagnostics),
      ...mirrors.diagnostics,
    ],
  };
};

interface Read {
  readonly nads: ReadonlyMap<string, ReturnType<typeof nadFacts>>;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly pods: ReadonlyMap<string, PodFacts>;
  readonly claims: ReadonlyMap<string, ClaimFacts>;
  readonly diagnostics: readonly Diagnostic[];
}

const readAll = (manifests: readonly Manifest[]): Read => {
  const nads = readKind(manifests, 'NetworkAttachmentDefinition', nadFacts);
  const nodes = readKind(manifests, 'Node', nodeFacts);
  const pods = readKind(manifests, 'Pod', podFacts);
  const claims = readKind(manifests, 'IPAMClaim', claimFacts);
  const diagnostics = [nads, nodes, pods, claims].flatMap((kind) => kind.diagnostics);
  return { nads: nads.facts, nodes: nodes.facts, pods: pods.facts, claims: claims.facts, diagnostics };
};

const readKind = <Facts>(
  manifests: readonly Manifest[],
  kind: string,
  project: (object: unknown) => Facts,
): { facts: Map<string, Facts>; diagnostics: readonly Diagnostic[] } => {
  const facts = new Map<string, Facts>();
  const diagnostics: Diagnostic[] = [];
  for (const manifest of manifests.filter((one) => one.kind === kind)) {
    const read = readFacts(manifest, project);
    diagnostics.push(...read.diagnostics);
    if (read.facts !== undefined) facts.set(keyOf(manifest), read.facts);
  }
  return { facts, diagnostics };
};

type Entries = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

const allocatePods = (
  state: ClusterState,
  pods: ReadonlyMap<string, PodFacts>,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined,
): { entries: Entries; diagnostics: readonly Diagnostic[] } => {
  const entries = new Map<string, Readonly<Record<string, unknown>>>();
  const diagnostics: Diagnostic[] = [];
  for (const pod of [...pods.values()].sort(oldestFirst)) {
    const plan = state.planPod(pod, labelsOf(pod.namespace));
    entries.set(pod.key, plan.entries);
    const object = `Pod/${pod.key}`;
    diagnostics.push(...plan.problems.map((message): Diagnostic => ({ object, severity: 'error', message })));
  }
  return { entries, diagnostics };
};

const oldestFirst = (a: PodFacts, b: PodFacts): number => (ageKey(a) < ageKey(b) ? -1 : 1);

const ageKey = ({ creationTimestamp, namespace, name }: PodFacts): string =>
  [creationTimestamp, namespace, name].join('\u0000');

interface Completed {
  readonly manifest: Manifest;
  readonly diagnostics: readonly Diagnostic[];
}

const completeOne = (manifest: Manifest, state: ClusterState, podEntries: Entries): Completed => {
  switch (manifest.kind) {
    case 'Node':
      return annotated(manifest, nodeAnnotations(manifest, state));
    case 'NetworkAttachmentDefinition':
      return annotated(manifest, nadAnnotations(manifest, state));
    case 'Pod':
      return annotated(manifest, podAnnotations(manifest, podEntries.get(keyOf(manifest)) ?? {}));
    default:
      return { manifest, diagnostics: [] };
  }
};

const nodeAnnotations = (manifest: Manifest, state: ClusterState): Record<string, string | undefined> => {
  const { id, transitAddresses, subnets } = state.nodes.annotations(manifest.metadata.name);
  return {
    [NODE_ANNOTATIONS.id]: id,
    [NODE_ANNOTATIONS.transitAddresses]: annotatedTransit(manifest) ?? transitAddresses,
    [NODE_ANNOTATIONS.subnets]: withAnnotatedSubnets(manifest, subnets, state),
  };
};

/** The manager would write what follows from the node's id; what the input says is taken first. */
const annotatedTransit = ({ metadata: { name, annotations } }: Manifest): string | undefined => {
  const text = annotations[NODE_ANNOTATIONS.transitAddresses];
  if (text === undefined) return undefined;
  return readable(() => parseTransitAddresses(text, name)) === undefined ? undefined : text;
};

/** Subnets that are not the network's are reported as such, and taken, as an agent takes them. */
const withAnnotatedSubnets = (manifest: Manifest, given: string, state: ClusterState): string => {
  const { name, annotations } = manifest.metadata;
  const text = annotations[NODE_ANNOTATIONS.subnets];
  const subnetsOf = text === undefined ? undefined : readable(() => parseNodeSubnets(text, name));
  const subnets = new Map(parseNodeSubnets(given, name));
  for (const [network, cidrs] of subnetsOf ?? []) {
    const ranges = state.nodes.rangesOf(network);
    const isForeign = (cidr: Cidr): boolean => !ranges.some((range) => cidrContains(range, cidr));
    if (subnets.has(network) && cidrs.length > 0 && cidrs.every(isForeign)) subnets.set(network, cidrs);
  }
  return formatNodeSubnets(subnets);
};

const readable = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};

const nadAnnotations = (manifest: Manifest, state: ClusterState): Record<string, string | undefined> => {
  const record = state.registry.networkOfNad(keyOf(manifest));
  if (record === undefined) return {};
  return {
    [NAD_ANNOTATIONS.networkName]: record.name,
    [NAD_ANNOTATIONS.networkId]: String(record.keys.id),
    [NAD_ANNOTATIONS.tunnelKeys]:
      record.keys.tunnelKeys.length === 0 ? undefined : formatTunnelKeys(record.keys.tunnelKeys),
  };
};

const podAnnotations = (
  { metadata: { annotations } }: Manifest,
  entries: Readonly<Record<string, unknown>>,
): Record<string, string | undefined> => {
  if (Object.keys(entries).length === 0) return {};
  const before = readJson(annotations[POD_ANNOTATIONS.networks] || '{}');
  const after = { ...(typeof before === 'object' ? before : {}), ...entries };
  const sorted = Object.entries(after).sort(([a], [b]) => (a < b ? -1 : 1));
  return { [POD_ANNOTATIONS.networks]: JSON.stringify(Object.fromEntries(sorted)) };
};

/** Only what is not there, or says something else: a different order of keys is no difference. */
const annotated = (manifest: Manifest, desired: Readonly<Record<string, string | undefined>>): Completed => {
  const changes = Object.entries(desired).flatMap(([key, value]) =>
    value === undefined || sameJson(manifest.metadata.annotations[key], value) ? [] : [[key, value] as const],
  );
  const diagnostics = changes.map(([key, value]): Diagnostic => {
    const what = manifest.metadata.annotations[key] === undefined ? 'is not in the input' : 'is not complete';
    const message = `annotation ${key} ${what}: assuming what the cluster manager would write: ${shortened(value)}`;
    return { object: objectName(manifest), severity: 'info', message };
  });
  return { manifest: withAnnotations(manifest, Object.fromEntries(changes)), diagnostics };
};

const sameJson = (a: string | undefined, b: string): boolean => {
  if (a === undefined || a === b) return a === b;
  try {
    const [before, after] = [readJson(a), readJson(b)];
    // `3 ` is the number 3, but not what an annotation of ours says.
    return typeof before === 'object' && canonicalJson(before) === canonicalJson(after);
  } catch {
    return false;
  }
};

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 197)}...` : text);

const problemDiagnostic = ({ object: { kind, namespace, name }, message }: Problem): Diagnostic => ({
  object: [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/'),
  severity: 'warning',
  message,
});

const nadDiagnostics = (state: ClusterState): Diagnostic[] =>
  [...state.nadProblems].flatMap(([key, messages]) =>
    messages.map((message) => ({ object: `NetworkAttachmentDefinition/${key}`, severity: 'error' as const, message })),
  );

/** Networks that have nothing (left) for a node. */
const nodeDiagnostics = (state: ClusterState, nodes: ReadonlyMap<string, NodeFacts>): Diagnostic[] => {
  const names = ['default', ...[...state.registry.networks()].map(({ name }) => name)];
  const network = names.flatMap((name) =>
    [...state.nodes.failures(name)].map(([node, message]) => ({ node, message: `network ${name}: ${message}` })),
  );
  const ids = [...nodes.keys()].flatMap((node) => {
    const message = state.nodes.idFailure(node);
    return message === undefined ? [] : [{ node, message }];
  });
  return [...network, ...ids].map(({ node, message }) => ({ object: `Node/${node}`, severity: 'error', message }));
};
