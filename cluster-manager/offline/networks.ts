/** The NADs of the UserDefinedNetworks and ClusterUserDefinedNetworks among manifests. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { type Labels, matchesSelector } from '../../api/label-selector.ts';
import { compareByAge } from '../../api/object.ts';
import { type NadFacts, nadFacts } from '../facts/nad-facts.ts';
import { type NamespaceFacts, namespaceFacts } from '../facts/namespace-facts.ts';
import { cudnFacts, type NetworkFacts, udnFacts } from '../facts/network-facts.ts';
import type { NadManifest } from '../render/network-attachment-definition.ts';
import { type NetworkView, planDesired, renderOrExplain } from '../render/plan-network.ts';
import { type Diagnostic, keyOf, type Manifest, readFacts } from './manifests.ts';

export interface RenderedNetworks {
  readonly manifests: readonly Manifest[];
  readonly diagnostics: readonly Diagnostic[];
  readonly labelsOf: (namespace: string) => Labels | undefined;
}

export const renderNetworks = (manifests: readonly Manifest[], cluster: ClusterConfig): RenderedNetworks => {
  const diagnostics: Diagnostic[] = [];
  const read = <Facts>(kind: string, project: (object: unknown) => Facts): Facts[] =>
    manifests
      .filter((manifest) => manifest.kind === kind)
      .flatMap((manifest) => {
        const result = readFacts(manifest, project);
        // NADs are read again with everything else, and report then what is wrong with them.
        if (kind !== 'NetworkAttachmentDefinition') diagnostics.push(...result.diagnostics);
        return result.facts ?? [];
      });
  const namespaces = new Map(read('Namespace', namespaceFacts).map((facts) => [facts.name, facts]));
  const nads = new Map(read('NetworkAttachmentDefinition', nadFacts).map((facts) => [facts.key, facts]));
  const networks = [...read('UserDefinedNetwork', udnFacts), ...read('ClusterUserDefinedNetwork', cudnFacts)];
  const rendered = new Map<string, Manifest>();
  for (const one of networks.sort((a, b) => compareByAge(a.metadata, b.metadata))) {
    const facts = withUid(one, nads);
    for (const namespace of namespacesOf(facts, namespaces)) {
      const result = renderIn(facts, namespace, viewOf(namespaces, nads, cluster));
      diagnostics.push(...result.diagnostics);
      if (result.manifest === undefined) continue;
      rendered.set(keyOf(result.manifest), result.manifest);
      nads.set(keyOf(result.manifest), nadFacts(result.manifest));
    }
  }
  const replaced = manifests.map((manifest) =>
    manifest.kind === 'NetworkAttachmentDefinition' ? take(rendered, manifest) : manifest,
  );
  return {
    manifests: [...replaced, ...rendered.values()],
    diagnostics,
    labelsOf: (namespace) => namespaces.get(namespace)?.labels,
  };
};

/** The rendered form of a NAD that is in the input already; what is left in the map is new. */
const take = (rendered: Map<string, Manifest>, manifest: Manifest): Manifest => {
  const key = keyOf(manifest);
  const replacement = rendered.get(key);
  rendered.delete(key);
  return replacement ?? manifest;
};

/** Files have no uids: who is named as an owner is the owner. */
const withUid = (facts: NetworkFacts, nads: ReadonlyMap<string, NadFacts>): NetworkFacts => {
  if (facts.metadata.uid !== undefined) return facts;
  const named = [...nads.values()]
    .flatMap(({ metadata }) => metadata.ownerReferences)
    .find(({ kind, name }) => kind === facts.kind && name === facts.metadata.name);
  return { ...facts, metadata: { ...facts.metadata, uid: named?.uid ?? `${facts.kind}/${facts.key}` } };
};

const namespacesOf = (facts: NetworkFacts, namespaces: ReadonlyMap<string, NamespaceFacts>): string[] => {
  const { kind, selector, metadata } = facts;
  if (kind === 'UserDefinedNetwork') return [metadata.namespace ?? ''];
  return [...namespaces.values()]
    .filter(({ labels }) => selector !== undefined && matchesSelector(selector, labels))
    .map(({ name }) => name)
    .sort();
};

const viewOf = (
  namespaces: ReadonlyMap<string, NamespaceFacts>,
  nads: ReadonlyMap<string, NadFacts>,
  cluster: ClusterConfig,
): NetworkView => ({
  rendered: (facts) => renderOrExplain(facts, cluster),
  namespace: (name) => namespaces.get(name),
  nad: (key) => nads.get(key),
  nadsIn: (namespace) => [...nads.values()].filter(({ metadata }) => metadata.namespace === namespace),
  pendingPrimaries: () => [],
  podsUsing: () => [],
});

const renderIn = (
  facts: NetworkFacts,
  namespace: string,
  view: NetworkView,
): { manifest?: Manifest; diagnostics: readonly Diagnostic[] } => {
  const plan = planDesired(facts, namespace, view);
  if (plan.kind === 'keep' || plan.kind === 'skip') return { diagnostics: [] };
  if (plan.kind === 'error') {
    return { diagnostics: [{ object: `${facts.kind}/${facts.key}`, severity: 'error', message: plan.message }] };
  }
  const existing = view.nad(`${namespace}/${facts.metadata.name}`);
  const message =
    existing === undefined
      ? `is not in the input: rendered from ${facts.kind} ${facts.key}`
      : `does not match ${facts.kind} ${facts.key}: rendered from that`;
  const object = `NetworkAttachmentDefinition/${namespace}/${facts.metadata.name}`;
  return {
    manifest: withHistory(plan.manifest, facts, existing),
    diagnostics: [{ object, severity: existing === undefined ? 'info' : 'warning', message }],
  };
};

/** A NAD is as old as its network, and keeps what was given out to it. */
const withHistory = (nad: NadManifest, facts: NetworkFacts, existing: NadFacts | undefined): Manifest => ({
  ...nad,
  metadata: {
    ...nad.metadata,
    creationTimestamp: existing?.metadata.creationTimestamp ?? facts.metadata.creationTimestamp ?? undefined,
    annotations: { ...existing?.metadata.annotations, ...nad.metadata.annotations },
  },
});
