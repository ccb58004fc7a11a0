/** Writes and deletes the NADs of networks. */
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { isNamespaceTerminating, isNotFound } from '../../kube/errors.ts';
import { refOf as refOfKey } from '../../kube/object-key.ts';
import type { WorkResult } from '../../kube/queue/types.ts';
import type { KubeObject } from '../../kube/types.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { isRendered, type NadManifest } from '../render/network-attachment-definition.ts';
import type { DesiredPlan, ReleasePlan } from '../render/plan-network.ts';
import type { NadCreations } from './nad-creations.ts';
import { heldIdAnnotations, idAnnotations } from './nad-ids.ts';
import { networkKey } from './network-key.ts';
import { NETWORK_MANAGER } from './network-status.ts';
import type { NetworkViews } from './network-views.ts';
import type { ControllerContext } from './types.ts';

export interface NadContext extends ControllerContext {
  readonly views: NetworkViews;
  readonly creations: NadCreations;
}

export interface Outcome {
  /** What was written comes back by the mirror. */
  readonly isUnderWay?: boolean;
  /** For the condition. */
  readonly message?: string;
  /** To be tried again. */
  readonly error?: unknown;
}

export const applyPlan = async (
  context: NadContext,
  facts: NetworkFacts,
  namespace: string,
  plan: DesiredPlan,
  signal: AbortSignal,
): Promise<Outcome> => {
  if (plan.kind === 'error') return { message: plan.message };
  if (plan.kind === 'skip') return {};
  const { views, creations, ids, state } = context;
  const key = `${namespace}/${facts.metadata.name}`;
  const text = JSON.stringify(plan.manifest);
  const isNew = plan.kind === 'apply' && plan.isNew;
  if (isNew && creations.isOnItsWay(key, text)) return { isUnderWay: true };
  if (!isNew && !views.needsApply(plan, text)) return {};
  const settlePrimary = isNew && plan.isPrimary ? views.addPending(key) : undefined;
  // With its id the NAD is written once; one that has none gets it later.
  if (isNew && !state.registry.hasId(facts.networkName)) await ids.available(signal);
  const keys = isNew ? creations.begin(key, networkKey(facts), plan.conf) : undefined;
  const annotations = keys === undefined ? idsOf(context, key) : idAnnotations(facts.networkName, keys);
  try {
    const written = await writeNad(context, withAnnotations(plan.manifest, annotations), isNew, signal);
    if (isNew) creations.written(key, text);
    views.noteApplied(key, text);
    // Where an admission webhook wants it otherwise, nothing may have changed that the mirror would show.
    return { isUnderWay: isNew || (plan.kind === 'apply' && isRendered(nadFacts(written), plan.manifest)) };
  } catch (error) {
    settlePrimary?.();
    // What was refused needs no ids; what can't be asked now is tried again with the write.
    if (isNew) await creations.settle(key, signal).catch(() => {});
    return refused(key, error);
  }
};

const refused = (key: string, error: unknown): Outcome =>
  // The mirror is about to show that its namespace is being deleted.
  isNamespaceTerminating(error)
    ? { isUnderWay: true }
    : { message: `failed to write NetworkAttachmentDefinition [${key}]: ${messageOf(error)}`, error };

export const deleteNad = async (
  { client }: Pick<NadContext, 'client'>,
  plan: ReleasePlan,
  signal: AbortSignal,
): Promise<Outcome> => {
  if (plan.kind === 'blocked') return { message: plan.message };
  if (plan.kind === 'deleting' && plan.message !== undefined) return { message: plan.message };
  if (plan.kind !== 'delete') return {};
  const { key, metadata } = plan.nad;
  try {
    const preconditions = { uid: metadata.uid };
    await client.delete(NETWORK_ATTACHMENT_DEFINITIONS, refOfKey(key), { preconditions }, signal);
    return {};
  } catch (error) {
    if (isNotFound(error)) return {};
    return { message: `failed to delete NetworkAttachmentDefinition [${key}]: ${messageOf(error)}`, error };
  }
};

export interface Settled {
  /** Some are there: with them the network has its turn again. */
  readonly areThere: boolean;
  /** Of those that may still come. */
  readonly result: WorkResult | undefined;
}

/** NADs that are no longer desired and that were not seen yet. They would be orphans. */
export const settleAll = async (
  { creations }: Pick<NadContext, 'creations'>,
  nadKeys: readonly string[],
  signal: AbortSignal,
): Promise<Settled> => {
  const found = await Promise.all(nadKeys.map((key) => creations.settle(key, signal)));
  const waits = found.filter((one) => typeof one === 'number');
  return {
    areThere: found.includes('there'),
    result: waits.length === 0 ? undefined : { requeueAfterMs: Math.max(...waits) },
  };
};

/** Of a NAD that is there: what it has stays, or the server would take away what we wrote and do not say again. */
const idsOf = ({ caches, state }: NadContext, key: string): Readonly<Record<string, string>> => {
  const record = state.registry.networkOfNad(key);
  if (record !== undefined) return idAnnotations(record.name, record.keys);
  const nad = caches.nads.get(key);
  return nad === undefined ? {} : heldIdAnnotations(nad);
};

const withAnnotations = (manifest: NadManifest, more: Readonly<Record<string, string>>): NadManifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, annotations: { ...manifest.metadata.annotations, ...more } },
});

/** A NAD that is not ours may have appeared a moment ago: a new one is not forced upon it. */
const writeNad = async (
  { writer }: NadContext,
  manifest: NadManifest,
  isNew: boolean,
  signal: AbortSignal,
): Promise<KubeObject> => {
  const options = { fieldManager: NETWORK_MANAGER, force: !isNew };
  return await writer.apply(NETWORK_ATTACHMENT_DEFINITIONS, { ...manifest }, options, signal);
};
