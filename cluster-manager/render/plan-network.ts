/** What has to happen to the NAD of a network in one namespace. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { UDN_FINALIZER, UDN_LABEL } from '../../api/names.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { invalidPrimaryStateMessage, isPrimaryLabelled } from '../../api/primary-network.ts';
import { primaryTaken } from '../allocation/primary-rivals.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NamespaceFacts } from '../facts/namespace-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { renderNetConf } from './net-conf.ts';
import {
  annotationBytes,
  hasExtras,
  isRendered,
  type NadManifest,
  renderNad,
} from './network-attachment-definition.ts';

/** The configuration of the network's NADs, or the message that says why there is none. */
export type Rendered = ((namespace: string) => NetConf) | string;

export interface NetworkView {
  rendered(facts: NetworkFacts): Rendered;
  namespace(name: string): NamespaceFacts | undefined;
  nad(key: string): NadFacts | undefined;
  /** Whatever wrote them, ours or not. */
  nadsIn(namespace: string): readonly NadFacts[];
  /** Keys of primary NADs that are being written: they exist, but are not in `nadsIn` yet. */
  pendingPrimaries(namespace: string): readonly string[];
  /** Active pods that use a NAD, or may use it because their annotation can't be read; sorted. */
  podsUsing(nadKey: string): readonly string[];
}

export type DesiredPlan =
  | {
      readonly kind: 'apply';
      readonly manifest: NadManifest;
      /** What the manifest says. */
      readonly conf: NetConf;
      readonly isNew: boolean;
      readonly isPrimary: boolean;
    }
  /** It is as it should be; `manifest` may still lack what is extra on the NAD. */
  | { readonly kind: 'keep'; readonly manifest: NadManifest; readonly hasExtras: boolean }
  | { readonly kind: 'error'; readonly message: string }
  /** The namespace is not there, or is about to go. */
  | { readonly kind: 'skip' };

export type ReleasePlan =
  | { readonly kind: 'gone' }
  | { readonly kind: 'delete'; readonly nad: NadFacts }
  /** `message` says who else has to let go of it. */
  | { readonly kind: 'deleting'; readonly message?: string }
  | { readonly kind: 'blocked'; readonly message: string };

/** The network is desired in the namespace. */
export const planDesired = (facts: NetworkFacts, namespaceName: string, view: NetworkView): DesiredPlan => {
  const namespace = view.namespace(namespaceName);
  if (namespace === undefined || namespace.isTerminating) return { kind: 'skip' };
  const key = `${namespaceName}/${facts.metadata.name}`;
  const nad = view.nad(key);
  if (nad !== undefined && !isOwnedBy(nad, facts) && !hasLostOwner(nad, facts)) {
    return {
      kind: 'error',
      message: `foreign NetworkAttachmentDefinition with the desired name already exist [${key}]`,
    };
  }
  const rendered = view.rendered(facts);
  if (typeof rendered === 'string') return { kind: 'error', message: rendered };
  const conf = rendered(namespaceName);
  const refusal = conf.role === 'primary' ? primaryRefusal(namespace, key, nad, view) : undefined;
  if (refusal !== undefined) return { kind: 'error', message: refusal };
  if (nad?.metadata.deletionTimestamp != null) return { kind: 'error', message: deletedMessage(nad, view) };
  const manifest = renderNad(facts, namespaceName, conf);
  const bytes = annotationBytes(manifest);
  if (bytes > MAX_INHERITED_BYTES) {
    const message = `metadata.annotations: ${bytes} bytes exceed the limit for NetworkAttachmentDefinition [${key}], which inherits them: at most ${MAX_INHERITED_BYTES}`;
    return { kind: 'error', message };
  }
  if (nad !== undefined && isRendered(nad, manifest)) {
    return { kind: 'keep', manifest, hasExtras: hasExtras(nad, manifest) };
  }
  return { kind: 'apply', manifest, conf, isNew: nad === undefined, isPrimary: conf.role === 'primary' };
};

/** An API server takes 256 KiB of an object; 4 KiB are for the ids that the NAD gets and for what others note on it. */
const MAX_INHERITED_BYTES = (256 - 4) * 1024;

/** The network is not desired in the namespace (any more). */
export const planRelease = (facts: NetworkFacts, namespace: string, view: NetworkView): ReleasePlan => {
  const key = `${namespace}/${facts.metadata.name}`;
  const nad = view.nad(key);
  if (nad === undefined || !isOwnedBy(nad, facts)) return { kind: 'gone' };
  const pods = view.podsUsing(key);
  if (pods.length > 0) {
    return { kind: 'blocked', message: `failed to delete NetworkAttachmentDefinition [${key}]: ${inUse(pods)}` };
  }
  if (nad.metadata.deletionTimestamp == null) return { kind: 'delete', nad };
  const held = heldByOthers(nad);
  if (held === undefined) return { kind: 'deleting' };
  return { kind: 'deleting', message: `failed to delete NetworkAttachmentDefinition [${key}]: ${held}` };
};

/** For `NetworkView.rendered`. */
export const renderOrExplain = (facts: NetworkFacts, cluster: ClusterConfig): Rendered => {
  try {
    return renderNetConf(facts, cluster);
  } catch (error) {
    if (error instanceof ApiError) return `failed to generate NetworkAttachmentDefinition: ${error.message}`;
    throw error;
  }
};

/** Names the pods, of many only the first. */
export const inUse = (pods: readonly string[]): string => {
  const more = pods.length - MAX_NAMED;
  const names = more > 0 ? [...pods.slice(0, MAX_NAMED), `and ${more} more`] : pods;
  return `network in use by the following pods: [${names.join(' ')}]`;
};

const MAX_NAMED = 20;

const isOwnedBy = (nad: NadFacts, { metadata }: NetworkFacts): boolean =>
  nad.metadata.ownerReferences.some(({ uid }) => uid === metadata.uid);

/** It was rendered, nobody else can have given it the network's ids, and somebody has taken its owner reference away. */
const hasLostOwner = ({ annotatedNetwork, metadata }: NadFacts, { networkName }: NetworkFacts): boolean =>
  annotatedNetwork === networkName &&
  Object.hasOwn(metadata.labels, UDN_LABEL) &&
  !metadata.ownerReferences.some(({ controller }) => controller === true);

/** Finalizers that no program of ours takes away; those of Kubernetes' garbage collector go by themselves. */
const heldByOthers = ({ metadata }: NadFacts): string | undefined => {
  const others = metadata.finalizers.filter((one) => one !== UDN_FINALIZER && !GARBAGE_COLLECTOR.has(one));
  return others.length === 0 ? undefined : `waiting for foreign finalizers: [${others.join(' ')}]`;
};

const GARBAGE_COLLECTOR: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

const primaryRefusal = (
  namespace: NamespaceFacts,
  key: string,
  own: NadFacts | undefined,
  view: NetworkView,
): string | undefined => {
  if (!isPrimaryLabelled(namespace.labels)) return invalidPrimaryStateMessage(namespace.name);
  // The oldest keeps its network: the others get a condition.
  if (own !== undefined) return undefined;
  const others = view.nadsIn(namespace.name).filter((nad) => nad.key !== key);
  const unreadable = others.find(({ confError }) => confError?.code === 'ERR_API_SYNTAX');
  if (unreadable !== undefined) {
    const reason = (unreadable.confError?.message ?? '').replace(/^.*?: /, '');
    return `failed to validate no primary network exist: unmarshal failed [${unreadable.key}]: ${reason}`;
  }
  const primary =
    others.find(({ isPrimary }) => isPrimary)?.metadata.name ??
    view
      .pendingPrimaries(namespace.name)
      .find((pending) => pending !== key)
      ?.split('/')[1];
  return primary === undefined ? undefined : primaryTaken(namespace.name, primary);
};

const deletedMessage = (nad: NadFacts, view: NetworkView): string => {
  const pods = view.podsUsing(nad.key);
  const waits = pods.length === 0 ? heldByOthers(nad) : inUse(pods);
  const why = waits === undefined ? '' : `: ${waits}`;
  return `NetworkAttachmentDefinition [${nad.key}] is being deleted and will be created again${why}`;
};
