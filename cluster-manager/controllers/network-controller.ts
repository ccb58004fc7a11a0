/**
 * Keeps the NADs of every UserDefinedNetwork and ClusterUserDefinedNetwork as they should be, and says in their status how
 * that went. A network that is being deleted stays until no pod uses it any more.
 */
import type { ConditionInput } from '../../api/condition.ts';
import { UDN_FINALIZER } from '../../api/names.ts';
import { MAX_NAMED, type NetworkStatusFields } from '../../api/network-status.ts';
import type { WorkResult } from '../../kube/queue/types.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { type DesiredPlan, planDesired, planRelease, type ReleasePlan } from '../render/plan-network.ts';
import { removeFinalizer } from './finalizer.ts';
import { failureTexts, networkAllocation } from './network-allocation.ts';
import {
  createdCondition,
  deletingCondition,
  errorReason,
  nodesPart,
  readyCondition,
  transportCondition,
  unusedCondition,
  withRivals,
} from './network-conditions.ts';
import { factsOf, networkKey } from './network-key.ts';
import { applyPlan, deleteNad, type NadContext, settleAll } from './network-nads.ts';
import {
  applyToNetwork,
  NETWORK_MANAGER,
  refOf,
  regarding,
  resourceOf,
  type StatusPart,
  writeStatus,
} from './network-status.ts';
import type { PodUsers } from './pod-users.ts';
import { selectedNamespaces } from './selected-namespaces.ts';
import type { Reconcile } from './types.ts';

export const networkReconciler = (context: NadContext, users: PodUsers): Reconcile => {
  const controller: Controller = { ...context, users };
  return async (key, signal) => {
    const facts = factsOf(context.caches, key);
    if (facts !== undefined) {
      const isLeaving = facts.metadata.deletionTimestamp != null;
      return isLeaving ? await leave(controller, facts, signal) : await ensure(controller, facts, signal);
    }
    context.views.forget(key);
    context.ownWrites.forget(key);
    return (await settleAll(controller, context.creations.unseen(key), signal)).result;
  };
};

interface Controller extends NadContext {
  readonly users: PodUsers;
}

const ensure = async (
  controller: Controller,
  facts: NetworkFacts,
  signal: AbortSignal,
): Promise<WorkResult | undefined> => {
  const { caches, views } = controller;
  // Before there is anything to protect, and not only after. What is gone by now gets no NAD: nobody would take it away.
  if (!(await addFinalizer(controller, facts, signal))) return undefined;
  const desired = selectedNamespaces(facts, caches.namespaces);
  const plans = desired.map((namespace) => ({ namespace, plan: planDesired(facts, namespace, views.view) }));
  views.setFailed(
    networkKey(facts),
    plans.filter(({ plan }) => plan.kind === 'error').map(({ namespace }) => namespace),
  );
  // What can't be read selects nothing, but neither does it give anything up.
  const owned = facts.spec === undefined ? [] : ownedNamespaces(controller, facts);
  const isDesired = new Set(desired);
  const stale = owned.filter((namespace) => !isDesired.has(namespace));
  const releases = stale.map((namespace) => ({ namespace, plan: release(controller, facts, namespace) }));
  const outcomes = await Promise.all([
    ...plans.filter(hasWork).map(({ namespace, plan }) => applyPlan(controller, facts, namespace, plan, signal)),
    ...releases.map(({ plan }) => deleteNad(controller, plan, signal)),
  ]);
  const rendered = views.view.rendered(facts);
  const messages = [
    ...(typeof rendered === 'string' ? [rendered] : []),
    ...outcomes.flatMap(({ message }) => message ?? []),
  ];
  const namespaces = plans.filter(({ plan }) => isThere(plan)).map(({ namespace }) => namespace);
  const failed = plans.filter(({ plan }) => plan.kind === 'error').map(({ namespace }) => namespace);
  // A namespace that is about to go takes its networks along: nothing is left to be said about them.
  const isLeaving = facts.kind === 'UserDefinedNetwork' && plans.every(({ plan }) => plan.kind === 'skip');
  // When it has come back by the mirror, all of it is said at once.
  const isUnderWay = messages.length === 0 && outcomes.some((outcome) => outcome.isUnderWay);
  if (!isLeaving && !isUnderWay) {
    await report(controller, facts, createdCondition(facts, namespaces, messages, failed), releases, signal);
  }
  rethrow(outcomes.flatMap(({ error }) => error ?? []));
  return await settleUndesired(controller, facts, plans, signal);
};

const leave = async (
  controller: Controller,
  facts: NetworkFacts,
  signal: AbortSignal,
): Promise<WorkResult | undefined> => {
  if (!facts.metadata.finalizers.includes(UDN_FINALIZER)) return undefined;
  // What the mirror does not have yet would be an orphan if its network went now, and stand in the way of the next one.
  const { areThere, result } = await settleAll(controller, controller.creations.unseen(networkKey(facts)), signal);
  if (areThere || result !== undefined) return result;
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
    return undefined;
  }
  const condition = deletingCondition(facts, namespaces, messages);
  const releases = namespaces.map((namespace, i) => ({ namespace, plan: plans[i] }));
  await report(controller, facts, condition, releases, signal);
  rethrow(outcomes.flatMap(({ error }) => error ?? []));
  return undefined;
};

/** Of namespaces where nothing is written now. */
const settleUndesired = async (
  controller: Controller,
  facts: NetworkFacts,
  plans: readonly { readonly namespace: string; readonly plan: DesiredPlan }[],
  signal: AbortSignal,
): Promise<WorkResult | undefined> => {
  const unseen = controller.creations.unseen(networkKey(facts));
  if (unseen.length === 0) return undefined;
  const desired = plans.filter(({ plan }) => plan.kind === 'apply');
  const keys = new Set(desired.map(({ namespace }) => `${namespace}/${facts.metadata.name}`));
  return (
    await settleAll(
      controller,
      unseen.filter((key) => !keys.has(key)),
      signal,
    )
  ).result;
};

/** @returns whether the network is there */
const addFinalizer = async (controller: Controller, facts: NetworkFacts, signal: AbortSignal): Promise<boolean> => {
  const { finalizers, resourceVersion = '', uid = '' } = facts.metadata;
  if (finalizers.includes(UDN_FINALIZER)) return true;
  const key = networkKey(facts);
  // A mirror that lags shows it without.
  if (controller.ownWrites.underWay(key, 'finalizer', resourceVersion) === uid) return true;
  const fields = { finalizers: [UDN_FINALIZER] };
  const written = await applyToNetwork(controller.writer, facts, NETWORK_MANAGER, fields, signal);
  if (written !== undefined) controller.ownWrites.note(key, 'finalizer', uid, written.metadata.resourceVersion);
  return written !== undefined;
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

/** Of a network of many namespaces nearly all NADs are as they should be. */
const hasWork = ({ plan }: { readonly plan: DesiredPlan }): boolean => plan.kind !== 'keep' || plan.hasExtras;

const isThere = ({ kind }: DesiredPlan): boolean => kind === 'apply' || kind === 'keep';

/** What was written, and what the network got and comes to; all of it in one request. */
const report = async (
  controller: Controller,
  facts: NetworkFacts,
  created: ConditionInput,
  releases: readonly Release[],
  signal: AbortSignal,
): Promise<void> => {
  const reason = errorReason(facts.kind);
  controller.problems.report(regarding(facts), reason, created.reason === reason ? [created.message] : []);
  controller.problems.report(regarding(facts), 'SubnetNormalized', facts.hostBits, 'Normal');
  const transport = transportCondition(facts);
  const got = allocated(controller, facts, created);
  if (got === undefined) return;
  const { conditions, fields } = got;
  const part = {
    conditions: [created, ...(transport === undefined ? [] : [transport]), ...conditions],
    fields: { ...blockedBy(controller, facts, releases), ...fields },
  };
  await writeStatus(controller, facts, NETWORK_MANAGER, part, signal);
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

/**
 * What the network got, and the result of everything. Undefined: its NADs are about to be looked at, and then it is
 * reported.
 */
const allocated = (
  controller: Controller,
  facts: NetworkFacts,
  created: ConditionInput,
): Required<StatusPart> | undefined => {
  const nads = ownedNamespaces(controller, facts).map((namespace) => `${namespace}/${facts.metadata.name}`);
  const allocation = networkAllocation(facts, nads, controller.state);
  if (allocation === undefined) {
    if (created.status === 'True' && nads.length > 0) return undefined;
    return { conditions: [created.status === 'True' ? unusedCondition : readyCondition([created])], fields: {} };
  }
  const { condition, fields, failures } = allocation;
  controller.problems.report(regarding(facts), 'NetworkAllocationFailed', failureTexts(failures));
  const ready = readyCondition([created, condition, nodesPart(facts.conditions)]);
  return { conditions: [condition, withRivals(ready, rivalsOf(controller, nads))], fields };
};

/** Primary NADs that stand beside the network's own. */
const rivalsOf = ({ caches, state }: Controller, own: readonly string[]): readonly string[] => {
  const isOwn = new Set(own);
  return own
    .filter((key) => state.registry.nad(key)?.conf.role === 'primary')
    .flatMap((key) => caches.nads.byIndex('namespace', key.split('/')[0] ?? ''))
    .filter(({ key, conf }) => conf?.role === 'primary' && !isOwn.has(key))
    .map(({ key }) => key)
    .sort();
};

const rethrow = (errors: readonly unknown[]): void => {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} NADs could not be written`);
};
