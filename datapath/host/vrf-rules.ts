/**
 * The policy rules by which the kernel looks into the tables of VRFs (`lookup [l3mdev-table]`). It makes them once in a network namespace,
 * with the first VRF (drivers/net/vrf.c, vrf_add_fib_rules), and never again: without them no VRF's table is looked up.
 */
import type { Family } from '../../net/ip.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Snapshot } from '../netlink/netlink.ts';
import { type Rule, ruleText } from '../netlink/rule/types.ts';

export class VrfRules {
  readonly #rules = new Map<string, Rule>();
  /** Families whose last one is known to have gone. Before the first VRF there is none, and none is missed. */
  readonly #lost = new Set<Family>();

  /** A family that has no rule at all is switched off. */
  load({ links, rules }: Pick<Snapshot, 'links' | 'rules'>): void {
    this.#rules.clear();
    this.#lost.clear();
    for (const rule of rules) if (isForAll(rule)) this.#rules.set(keyOf(rule), rule);
    if (!links.some(({ vrfTable }) => vrfTable !== undefined)) return;
    for (const { family } of rules) if (!this.#has(family)) this.#lost.add(family);
  }

  apply(change: 'new' | 'gone', rule: Rule): void {
    if (!isForAll(rule)) return;
    if (change === 'new') this.#rules.set(keyOf(rule), rule);
    else this.#rules.delete(keyOf(rule));
    if (this.#has(rule.family)) this.#lost.delete(rule.family);
    else this.#lost.add(rule.family);
  }

  /** Families without one, of any priority and whoever has put it. */
  lost(): readonly Family[] {
    return [...this.#lost].toSorted((a, b) => a - b);
  }

  /** What adds them again as the kernel makes them: for each VRF, so that each reports a refusal. A rule that is there is no error. */
  repairs(): readonly KernelOp[] {
    return this.lost().map((family) => ({ op: 'rule.put', rule: vrfRule(family) }));
  }

  #has(family: Family): boolean {
    return this.#rules.values().some((rule) => rule.family === family);
  }
}

/** One for some packets only is somebody's own. */
const isForAll = ({ l3mdev, from, to, fwmark, iif }: Rule): boolean =>
  l3mdev === true && (from ?? to ?? fwmark ?? iif) === undefined;

const keyOf = (rule: Rule): string => `${ruleText(rule)} ${rule.protocol}`;

/** drivers/net/vrf.c, FIB_RULE_PREF. */
const PRIORITY = 1000;
/** rtnetlink(7), RTPROT_KERNEL. */
const KERNEL_PROTOCOL = 2;

/** As drivers/net/vrf.c makes it. */
export const vrfRule = (family: Family): Rule => ({
  family,
  priority: PRIORITY,
  l3mdev: true,
  table: 0,
  protocol: KERNEL_PROTOCOL,
});
