/**
 * What to do so that the host is as desired: additions from the ground up, removals before them and the other way. Pure.
 * Where a change disturbs a link, what is on it is planned later, from what is there then.
 */
import type { KernelOp } from '../netlink/kernel/types.ts';
import { assess, type Situation } from './assessment.ts';
import { removalStep } from './removal.ts';
import type { HostItem } from './types.ts';

export interface HostPlan {
  readonly steps: readonly Step[];
  /** Keys that wait, and for what. */
  readonly waiting: ReadonlyMap<string, string>;
  readonly failed: ReadonlyMap<string, string>;
  /** Keys to plan again when the steps have been done. */
  readonly later: ReadonlySet<string>;
}

/** Operations of one key, in order. */
export interface Step {
  readonly key: string;
  readonly ops: readonly KernelOp[];
}

export interface PlanRequest extends Situation {
  readonly keys: Iterable<string>;
  readonly prune: boolean;
  /** Keys of what was brought about before: ours, whatever it looks like. */
  readonly remembered: ReadonlySet<string>;
}

export const planHost = (request: PlanRequest): HostPlan => {
  const { desired } = request.index;
  const items: (readonly [string, HostItem])[] = [];
  const removals: Step[] = [];
  for (const key of request.keys) {
    const item = desired.get(key);
    if (item !== undefined) items.push([key, item]);
    else if (request.prune) removals.push(...removalStep(key, request));
  }
  removals.sort((a, b) => removalRank(a.key) - removalRank(b.key));
  items.sort(([, a], [, b]) => rank(a) - rank(b));
  const additions = planItems(items, request, removals);
  return { ...additions, steps: [...removals, ...additions.steps] };
};

const planItems = (
  items: readonly (readonly [string, HostItem])[],
  situation: Situation,
  removals: readonly Step[],
): HostPlan => {
  const [waiting, failed] = [new Map<string, string>(), new Map<string, string>()];
  const later = new Set<string>();
  const steps: Step[] = [];
  /** As the index names what things depend on. */
  const disturbed = new Set(removals.map(({ key }) => key));
  for (const [key, item] of items) {
    // Mostly nothing is, and then what it depends on need not be found out.
    if (disturbed.size > 0 && situation.index.dependenciesOf(item).some((dependency) => disturbed.has(dependency))) {
      later.add(key);
      // Of a link the key is also what others depend on.
      disturbed.add(key);
      continue;
    }
    const assessment = assess(item, situation);
    if (assessment.waiting !== undefined) waiting.set(key, assessment.waiting);
    if (assessment.failed !== undefined) failed.set(key, assessment.failed);
    if (assessment.ops.length > 0) steps.push({ key, ops: assessment.ops });
    for (const dependency of assessment.disturbed ?? []) disturbed.add(dependency);
  }
  return { steps, waiting, failed, later };
};

/** A port is filtered before it is up. A gateway has to be reachable before a route can lead to it, and the routes are there before anything is sent to them. */
const rank = (item: HostItem): number => {
  switch (item.kind) {
    case 'link':
      return item.link.kind === 'vrf' ? 0 : 2;
    case 'filter':
      return 1;
    case 'address':
      return 3;
    case 'sysctl':
      return 4;
    case 'route':
      return item.route.via === undefined ? 5 : 6;
    case 'rule':
      return 7;
    case 'neighbour':
      return 8;
  }
};

const REMOVAL_ORDER = ['neighbour', 'rule', 'route', 'address', 'filter', 'link'];

const removalRank = (key: string): number => REMOVAL_ORDER.indexOf(key.slice(0, key.indexOf(' ')));
