/** What the plan of a network is made from: the caches, and what the controller itself has just done. */
import { MultiMap } from '../../base/multi-map.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NadManifest } from '../render/network-attachment-definition.ts';
import type { DesiredPlan, NetworkView } from '../render/plan-network.ts';
import type { PodUsers } from './pod-users.ts';
import type { ControllerContext } from './types.ts';

export interface NetworkViews {
  readonly view: NetworkView;
  /** A primary NAD is being written. @returns to be called when that failed */
  addPending(nadKey: string): () => void;
  /** The cache has a NAD, or does not have it any more. */
  seen(nadKey: string): void;
  /** False when the manifest has been applied and only others' labels differ: applying it again changes nothing. */
  needsApply(plan: Extract<DesiredPlan, { manifest: NadManifest }>, text: string): boolean;
  /** @param text what of it we say */
  noteApplied(nadKey: string, text: string): void;
  /** Remembers that a network failed in namespaces; none: it did not. */
  setFailed(networkKey: string, namespaces: readonly string[]): void;
  /** Networks that failed in a namespace, where something has changed now. */
  failedIn(namespace: string): readonly string[];
  /** The network is gone. */
  forget(networkKey: string): void;
}

export const createNetworkViews = (
  { caches, state, enqueue }: Pick<ControllerContext, 'caches' | 'state' | 'enqueue'>,
  users: PodUsers,
): NetworkViews => {
  const pending = new MultiMap<string>();
  const applied = new Map<string, string>();
  /** Network → the namespaces where it failed, and the other way round. */
  const failed = new Map<string, readonly string[]>();
  const failedByNamespace = new MultiMap<string>();

  const dropPending = (nadKey: string): boolean => pending.delete(namespaceOf(nadKey), nadKey);
  const failedIn = (namespace: string): readonly string[] => [...failedByNamespace.get(namespace)];
  const setFailed = (networkKey: string, namespaces: readonly string[]): void => {
    for (const namespace of failed.get(networkKey) ?? []) failedByNamespace.delete(namespace, networkKey);
    failed.delete(networkKey);
    if (namespaces.length > 0) failed.set(networkKey, namespaces);
    for (const namespace of namespaces) failedByNamespace.add(namespace, networkKey);
  };
  const view: NetworkView = {
    rendered: (facts) => state.rendered(facts),
    namespace: (name) => caches.namespaces.get(name),
    nad: (key) => caches.nads.get(key),
    nadsIn: (namespace): readonly NadFacts[] => caches.nads.byIndex('namespace', namespace),
    pendingPrimaries: (namespace) => [...pending.get(namespace)],
    podsUsing: users.using,
  };
  return {
    view,
    addPending: (nadKey) => {
      const namespace = namespaceOf(nadKey);
      pending.add(namespace, nadKey);
      return () => {
        if (dropPending(nadKey)) for (const key of failedIn(namespace)) enqueue.network(key);
      };
    },
    seen: (nadKey) => {
      dropPending(nadKey);
      if (!caches.nads.has(nadKey)) applied.delete(nadKey);
    },
    needsApply: (plan, text) =>
      plan.kind === 'apply' || (plan.hasExtras && applied.get(nadKeyOf(plan.manifest)) !== text),
    noteApplied: (nadKey, text) => applied.set(nadKey, text),
    setFailed,
    failedIn,
    forget: (networkKey) => setFailed(networkKey, []),
  };
};

const namespaceOf = (nadKey: string): string => nadKey.split('/')[0] ?? '';

const nadKeyOf = ({ metadata }: NadManifest): string => `${metadata.namespace}/${metadata.name}`;
