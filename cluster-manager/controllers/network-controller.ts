/**
 * Keeps the NADs of every UserDefinedNetwork and ClusterUserDefinedNetwork as they should be, and says in their status how
 * that went. A network that is being deleted stays until no pod uses it any more.
 */
import type { ConditionInput } from '../../api/condition.ts';
import { UDN_FINALIZER } from '../../api/names.ts';
import { MAX_NAMED, type NetworkStatusFields } from '../../api/network-status.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import { refOf as refOfKey } from '../../kube/object-key.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { NadManifest } from '../render/network-attachment-definition.ts';
import { planRelease, planWanted, type ReleasePlan, type WantedPlan } from '../render/plan-network.ts';
import { removeFinalizer } from './finalizer.ts';
import { networkAllocation } from './network-allocation.ts';
import {
  createdCondition,
  deletingCondition,
  errorReason,
  readyCondition,
  transportCondition,
  unusedCondition,
} from './network-conditions.ts';
import { factsOf, networkKey } from './network-key.ts';
import {
  ALLOCATION_MANAGER,
  applyToNetwork,
  NETWORK_MANAGER,
  refOf,
  regarding,
  resourceOf,
  writeStatus,
} from './network-status.ts';
import type { NetworkViews } from './network-views.ts';
import type { PodUsers } from './pod-users.ts';
import { selectedNamespaces } from './selected-namespaces.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const networkReconciler = (context: ControllerContext, views: NetworkViews, users: PodUsers): Reconcile => {
  const controller: Controller = { ...context, views, users };
  return async (key, signal) => {
    const facts = factsOf(context.caches, key);
    if (facts === undefined) {
      views.forget(key);
      context.ownWrites.forget(key);
    } else if (facts.metadata.deletionTimestamp == null) await ensure(controller, facts, signal);
    else await leave(controller, facts, signal);
  };
};

interface Controller extends ControllerContext {
  readonly views: NetworkViews;
  readonly users: PodUsers;
}

const ensure = async (controller: Controller, facts: NetworkFacts, signal: AbortSignal): Promise<void> => {
  const { caches, views } = controller;
  // Before there is anything to protect, and not only after. What is gone by now gets no NAD: nobody would take it away.
  if (!(await addFinalizer(controller, facts, signal))) return;
  const wanted = selectedNamespaces(facts, caches.namespaces);
  const plans = wanted.map((namespace) => ({ namespace, plan: planWanted(facts, namespace, views.view) }));
  views.setFailed(
    networkKey(facts),
    plans.filter(({ plan }) => plan.kind === 'error').map(({ namespace }) => namespace),
  );
  // What can't be read selects nothing, but neither does it give anything up.
  const owned = facts.spec === undefined ? [] : ownedNamespaces(controller, facts);
  const stale = owned.filter((namespace) => !wanted.includes(namespace));
  const releases = stale.map((namespace) => ({ namespace, plan: release(controller, facts, namespace) }));
  const outcomes = await Promise.all([
    ...plans.map(({ namespace, plan }) => applyPlan(controller, facts, namespace, plan, signal)),
    ...releases.map(({ plan }) => deleteNad(controller, plan, signal)),
  ]);
  const rendered = views.view.rendered(facts);
  const messages = [
    ...(typeof rendered === 'string' ? [rendered] : []),
    ...outcomes.flatMap(({ message }) => message ?? []),
  ];
  const namespaces = plans.filter(({ plan }) => isThere(plan)).map(({ namespace }) => namespace);
  // A namespace that is about to go takes its networks along: nothing is left to be said about them.
  const isLeaving = facts.kind === 'UserDefinedNetwork' && plans.every(({ plan }) => plan.kind === 'skip');
  if (!isLeaving) {
    const created = createdCondition(facts, namespaces, messages);
    await report(controller, facts, created, releases, signal);
    await reportAllocation(controller, facts, created, namespaces, signal);
  }
  rethrow(outcomes.flatMap(({ error }) => error ?? []));
};

const leave = async (controller: Controller, facts: NetworkFacts, signal: AbortSignal): Promise<void> => {
  if (!facts.metadata.finalizers.includes(UDN_FINALIZER)) return;
  if (await isAnyOnItsWay(controller, facts, signal)) return;
  const namespaces = ownedNamespaces(controller, facts);
  const plans = namespaces.map((namespace) => release(controller, facts, namespace));
  const outcomes = await Promise.all(plans.map((plan) => deleteNad(controller, plan, signal)));
  const messages = outcomes.flatMap(({ message }) => message ?? []);
  if (plans.every(({ kind }) => kind === 'gone')) {
    const { metadata } = facts;
    await removeFinalizer(
      controller.client,
      resourceOf(facts),
      refOf(facts),
      metadata.finalizers,
      UDN_FINALIZER,
      signal,
    );
    return;
  }
  const condition = deletingCondition(facts, namespaces, messages);
  const releases = namespaces.map((namespace, i) => ({ namespace, plan: plans[i] }));
  await report(controller, facts, condition, releases, signal);
  // A deletion that waits for nobody ends in a moment.
  if (plans.some(({ kind }) => kind === 'blocked')) {
    await reportAllocation(controller, facts, condition, namespaces, signal);
  }
  rethrow(outcomes.flatMap(({ error }) => error ?? []));
};

/**
 * Whether there is a NAD that was written a moment ago and that the cache does not have yet. It would be an orphan if its
 * network went now, and stand in the way of the next one of that name. When it comes, the network has its turn again.
 */
const isAnyOnItsWay = async (
  { client, views }: Controller,
  facts: NetworkFacts,
  signal: AbortSignal,
): Promise<boolean> => {
  for (const key of views.unseen(facts)) {
    try {
      await client.get(NETWORK_ATTACHMENT_DEFINITIONS, refOfKey(key), signal);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      views.seen(key);
    }
  }
  return false;
};

interface Outcome {
  /** For the condition. */
  readonly message?: string;
  /** To be tried again. */
  readonly error?: unknown;
}

/** @returns whether the network is there */
const addFinalizer = async (controller: Controller, facts: NetworkFacts, signal: AbortSignal): Promise<boolean> => {
  if (facts.metadata.finalizers.includes(UDN_FINALIZER)) return true;
  const finalizers = [UDN_FINALIZER];
  return (await applyToNetwork(controller.writer, facts, NETWORK_MANAGER, { finalizers }, signal)) !== undefined;
};

/** Namespaces with a NAD of the network, sorted. */
const ownedNamespaces = ({ caches }: Controller, { metadata }: NetworkFacts): readonly string[] =>
  caches.nads
    .byIndex('owner', metadata.uid ?? '')
    .map((nad) => nad.metadata.namespace)
    .sort();

const release = ({ views, users, enqueue }: Controller, facts: NetworkFacts, namespace: string): ReleasePlan => {
  const plan = planRelease(facts, namespace, views.view);
  const key = networkKey(facts);
  if (plan.kind === 'blocked') users.watch(`${namespace}/${facts.metadata.name}`, key, () => enqueue.network(key));
  return plan;
};

const isThere = ({ kind }: WantedPlan): boolean => kind === 'apply' || kind === 'keep';

const applyPlan = async (
  controller: Controller,
  facts: NetworkFacts,
  namespace: string,
  plan: WantedPlan,
  signal: AbortSignal,
): Promise<Outcome> => {
  if (plan.kind === 'error') return { message: plan.message };
  if (plan.kind === 'skip' || !controller.views.needsApply(plan)) return {};
  const key = `${namespace}/${facts.metadata.name}`;
  const settle = plan.kind === 'apply' && plan.isNew && plan.isPrimary ? controller.views.addPending(key) : undefined;
  if (plan.kind === 'apply' && plan.isNew) controller.views.noteWriting(key, facts);
  try {
    await writeNad(controller, plan.manifest, plan.kind === 'apply' && plan.isNew, signal);
    controller.views.noteApplied(plan.manifest);
    return {};
  } catch (error) {
    settle?.();
    return { message: `failed to write NetworkAttachmentDefinition [${key}]: ${textOf(error)}`, error };
  }
};

/** A NAD that is not ours may have appeared a moment ago: a new one is not forced upon it. */
const writeNad = async (
  { writer }: Controller,
  manifest: NadManifest,
  isNew: boolean,
  signal: AbortSignal,
): Promise<void> => {
  const options = { fieldManager: NETWORK_MANAGER, force: !isNew };
  await writer.apply(NETWORK_ATTACHMENT_DEFINITIONS, { ...manifest }, options, signal);
};

const deleteNad = async ({ client }: Controller, plan: ReleasePlan, signal: AbortSignal): Promise<Outcome> => {
  if (plan.kind === 'blocked') return { message: plan.message };
  if (plan.kind !== 'delete') return {};
  const { key, metadata } = plan.nad;
  try {
    const preconditions = { uid: metadata.uid };
    await client.delete(NETWORK_ATTACHMENT_DEFINITIONS, refOfKey(key), { preconditions }, signal);
    return {};
  } catch (error) {
    if (isNotFound(error)) return {};
    return { message: `failed to delete NetworkAttachmentDefinition [${key}]: ${textOf(error)}`, error };
  }
};

const report = async (
  controller: Controller,
  facts: NetworkFacts,
  created: ConditionInput,
  releases: readonly Release[],
  signal: AbortSignal,
): Promise<void> => {
  const reason = errorReason(facts.kind);
  controller.problems.report(regarding(facts), reason, created.reason === reason ? [created.message] : []);
  const transport = transportCondition(facts);
  const conditions = [created, ...(transport === undefined ? [] : [transport])];
  const fields = blockedBy(controller, facts, releases);
  await writeStatus(controller, facts, NETWORK_MANAGER, { conditions, fields }, signal);
};

interface Release {
  readonly namespace: string;
  readonly plan: ReleasePlan | undefined;
}

const blockedBy = (
  { users }: Controller,
  { metadata: { name } }: NetworkFacts,
  releases: readonly Release[],
): NetworkStatusFields => {
  const pods = releases
    .filter(({ plan }) => plan?.kind === 'blocked')
    .flatMap(({ namespace }) => users.using(`${namespace}/${name}`));
  return pods.length === 0 ? {} : { blockedBy: { pods: pods.length, names: pods.slice(0, MAX_NAMED) } };
};

/** What the network got, once something was tried, and what everything comes to. @param namespaces with its NAD */
const reportAllocation = async (
  controller: Controller,
  facts: NetworkFacts,
  created: ConditionInput,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const nads = ownedNamespaces(controller, facts).map((namespace) => `${namespace}/${facts.metadata.name}`);
  const allocation = networkAllocation(facts, nads, controller.state);
  if (allocation === undefined) {
    // Its NADs are on their way: with them it is told.
    if (created.status === 'True' && namespaces.length > 0) return;
    const ready = created.status === 'True' ? unusedCondition : readyCondition([created]);
    await writeStatus(controller, facts, ALLOCATION_MANAGER, { conditions: [ready] }, signal);
    return;
  }
  const { condition, fields, failures } = allocation;
  const texts = [...failures].map(([node, message]) => `Error occurred for node ${node}: ${message}`);
  controller.problems.report(regarding(facts), 'NetworkAllocationFailed', texts);
  const conditions = [condition, readyCondition([created, condition])];
  await writeStatus(controller, facts, ALLOCATION_MANAGER, { conditions, fields }, signal);
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const rethrow = (errors: readonly unknown[]): void => {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} NADs could not be written`);
};
