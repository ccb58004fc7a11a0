/** What is to be done so that a bridge is as desired. Pure. */
import type { BundleOp } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';
import type { GroupState } from './text/group-dump.ts';

export interface DesiredBridge {
  /** By identity. */
  readonly flows: ReadonlyMap<string, FlowState>;
  /** Group → bucket → actions. */
  readonly groups: ReadonlyMap<number, ReadonlyMap<number, string>>;
  readonly noFlood: ReadonlySet<number>;
  /** Ports that were not to be flooded to, and of which nothing is desired since. */
  readonly released: ReadonlySet<number>;
}

export interface ActualBridge {
  readonly flows: ReadonlyMap<string, FlowState>;
  readonly groups: ReadonlyMap<number, GroupState>;
  readonly noFlood: ReadonlySet<number>;
}

/** What to look at, each once. */
export interface Scope {
  readonly flows: Iterable<string>;
  readonly groups: Iterable<number>;
  readonly buckets: Iterable<readonly [group: number, bucket: number]>;
  readonly ports: Iterable<number>;
}

export interface PlanOptions {
  readonly prune: boolean;
  readonly isOurs: (cookie: string) => boolean;
  readonly isOurGroup: (group: number) => boolean;
}

export interface Plan {
  readonly bundle: readonly BundleOp[];
  /** Port → whether floods are not to reach it. */
  readonly ports: ReadonlyMap<number, boolean>;
}

/**
 * Flows that are desired win over whoever's flow has the same table, priority and match; others are removed only if their
 * cookie is ours. Groups come before the flows that name them and go after them: a bridge refuses the one and removes such
 * flows with the other (OpenFlow 1.5.1, 6.7). A port of which nothing is desired any longer is mostly about to go: that it
 * is flooded to is changed back only if it is still there when everything is looked at.
 */
export const plan = (
  desired: DesiredBridge,
  actual: ActualBridge,
  scope: Scope | 'all',
  options: PlanOptions,
): Plan => {
  const looked = scope === 'all' ? everything(desired, actual) : scope;
  const groups = planGroups(desired, actual, looked, options);
  const flows = planFlows(desired, actual, looked, options);
  const bundle = [...groups.before, ...flows.adds, ...flows.deletes, ...groups.after];
  return { bundle, ports: planPorts(desired, actual, looked, options) };
};

const everything = (desired: DesiredBridge, actual: ActualBridge): Scope => ({
  flows: union(desired.flows.keys(), actual.flows.keys()),
  groups: union(desired.groups.keys(), actual.groups.keys()),
  buckets: [...desired.groups].flatMap(([group, buckets]) =>
    [...union(buckets.keys(), actual.groups.get(group)?.buckets.keys() ?? [])].map(
      (bucket) => [group, bucket] as const,
    ),
  ),
  ports: union(desired.noFlood, desired.released),
});

const union = <T>(a: Iterable<T>, b: Iterable<T>): Set<T> => {
  const all = new Set(a);
  for (const one of b) all.add(one);
  return all;
};

export const planFlows = (
  desired: Pick<DesiredBridge, 'flows'>,
  actual: Pick<ActualBridge, 'flows'>,
  scope: Pick<Scope, 'flows'>,
  options: Pick<PlanOptions, 'prune' | 'isOurs'>,
): { readonly adds: BundleOp[]; readonly deletes: BundleOp[] } => {
  const adds: BundleOp[] = [];
  const deletes: BundleOp[] = [];
  for (const identity of scope.flows) {
    const flow = desired.flows.get(identity);
    const there = actual.flows.get(identity);
    if (flow !== undefined) {
      const { cookie, actions } = flow;
      if (!isSameFlow(flow, there)) adds.push({ op: 'addFlow', flow: { identity, cookie, actions } });
    } else if (there !== undefined && options.prune && options.isOurs(there.cookie)) {
      deletes.push({ op: 'deleteFlow', identity });
    }
  }
  return { adds, deletes };
};

export const isSameFlow = (a: FlowState | undefined, b: FlowState | undefined): boolean =>
  a?.cookie === b?.cookie && a?.actions === b?.actions;

const planGroups = (desired: DesiredBridge, actual: ActualBridge, scope: Scope, options: PlanOptions) => {
  const before: BundleOp[] = [];
  const after: BundleOp[] = [];
  /** Groups that the plan recreates, so that all their buckets are missing. */
  const fresh = new Set<number>();
  for (const group of union(
    scope.groups,
    [...scope.buckets].map(([group]) => group),
  )) {
    const buckets = desired.groups.get(group);
    const there = actual.groups.get(group);
    if (buckets === undefined) {
      if (there !== undefined && options.prune && options.isOurGroup(group)) after.push({ op: 'deleteGroup', group });
    } else if (there?.type !== 'all') {
      before.push({ op: there === undefined ? 'addGroup' : 'resetGroup', group });
      fresh.add(group);
      for (const [bucket, actions] of buckets) before.push({ op: 'insertBucket', group, bucket, actions });
    }
  }
  for (const [group, bucket] of scope.buckets) {
    if (!fresh.has(group)) before.push(...planBucket(desired, actual, group, bucket, options));
  }
  return { before, after };
};

const planBucket = (
  desired: DesiredBridge,
  actual: ActualBridge,
  group: number,
  bucket: number,
  { prune }: PlanOptions,
): BundleOp[] => {
  const buckets = desired.groups.get(group);
  const actions = buckets?.get(bucket);
  const there = actual.groups.get(group)?.buckets.get(bucket);
  if (buckets === undefined || actions === there) return [];
  if (actions === undefined) return prune ? [{ op: 'removeBucket', group, bucket }] : [];
  const insert = { op: 'insertBucket', group, bucket, actions } as const;
  return there === undefined ? [insert] : [{ op: 'removeBucket', group, bucket }, insert];
};

const planPorts = (
  desired: DesiredBridge,
  actual: ActualBridge,
  scope: Scope,
  { prune }: PlanOptions,
): Map<number, boolean> => {
  const changes = new Map<number, boolean>();
  for (const port of scope.ports) {
    const noFlood = desired.noFlood.has(port);
    if (actual.noFlood.has(port) !== noFlood && (noFlood || prune)) changes.set(port, noFlood);
  }
  return changes;
};
