/**
 * Where the rules of admin policies are among the priorities of a tier's ACLs. The places follow from which policies there are, and
 * not from the order in which they came, so that an agent that restarts writes nothing; and a policy that comes, goes or grows moves
 * only those next to it that have no room, since each change of an ACL makes ovn-northd recompute all logical flows.
 */
import { LAST_PRIORITY } from '../../../../api/admin-network-policy.ts';
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import { ACL_RANKS } from '../../../model/registry/acls.ts';

export interface Placed {
  readonly key: string;
  /** As `comparePlaces` has them in order. */
  readonly priority: number;
  readonly name: string;
  /** In `UNIT_RULES`. */
  readonly width: number;
}

/** Rules of both directions have the same priorities: no packet meets both. A ClusterNetworkPolicy has at most as many. */
const UNIT_RULES = 25;
/** So that all rules are above 1 and below what ovn-nb(5) allows, 32,767. Each priority of the API has a unit at least. */
const UNITS = 1280;
const FIRST_RULE_PRIORITY = ACL_RANKS.adminRules.priority;

export const widthOf = ({ ingress, egress }: Pick<AdminPolicy, 'ingress' | 'egress'>): number =>
  Math.max(1, Math.ceil(Math.max(ingress.length, egress.length) / UNIT_RULES));

/** Policies of one priority are undefined by the API. Here the name decides, so that every node says the same. */
export const comparePlaces = (a: Placed, b: Placed): number =>
  a.priority - b.priority || compareText(a.name, b.name) || compareText(a.key, b.key);

/**
 * @param ordered by `comparePlaces`
 * @returns by key the OVN priority of the first rule; those that have no room any more have none
 */
export const placesOf = (ordered: readonly Placed[]): ReadonlyMap<string, number> => {
  const fitting = fittingOf(ordered);
  const starts: number[] = [];
  let free = 0;
  for (const { priority, width } of fitting) {
    const start = Math.max(homeOf(priority), free);
    starts.push(start);
    free = start + width;
  }
  let end = UNITS;
  for (let index = fitting.length - 1; index >= 0; index -= 1) {
    end = Math.min(starts[index] ?? 0, end - (fitting[index]?.width ?? 0));
    starts[index] = end;
  }
  return new Map(fitting.map(({ key }, index) => [key, FIRST_RULE_PRIORITY - (starts[index] ?? 0) * UNIT_RULES]));
};

/** @param first of the policy, as `placesOf` has it */
export const rulePriority = (first: number, index: number): number => first - index;

/** The first of them, until there is no room: what is evaluated last is what is missed last. */
const fittingOf = (ordered: readonly Placed[]): readonly Placed[] => {
  let taken = 0;
  const tooMuch = ordered.findIndex(({ width }) => {
    taken += width;
    return taken > UNITS;
  });
  return tooMuch === -1 ? ordered : ordered.slice(0, tooMuch);
};

/** Policies of different priorities have different ones. */
const homeOf = (priority: number): number => Math.floor((priority * UNITS) / (LAST_PRIORITY + 1));

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
