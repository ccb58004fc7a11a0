/** What a policy costs the nodes of its pods, in numbers that follow from its text alone, and how much of it a tenant may ask for. */
import { type RuleTemplate, type Selection, weightOf } from './templates.ts';

export interface PolicyCost {
  /** Rules for a pod, per family. */
  readonly combinations: number;
  /** Elements of sets: prefixes of both families, in each rule that has them. */
  readonly prefixes: number;
  /** Each, once, is looked for among all pods of the network. */
  readonly selectors: number;
  /** Of those the ones with a `namespaceSelector`: other tenants' pods are compared with them. */
  readonly wide: number;
  /** Named ports of ingress, which make rules of their own for each number that a pod has for them. */
  readonly names: number;
}

/** What a policy has above one of these is closed. Far above what people write. */
export const POLICY_LIMITS: PolicyCost = { combinations: 1024, prefixes: 8192, selectors: 256, wide: 128, names: 256 };
/** All policies of a namespace that have pods on a node, together: above it the last of them by name are closed. */
export const NAMESPACE_LIMITS: PolicyCost = {
  ...{ combinations: 4096, prefixes: 32_768, selectors: 1024, wide: 256, names: 512 },
};

const PARTS = Object.keys(POLICY_LIMITS) as readonly (keyof PolicyCost)[];

export const NO_COST: PolicyCost = { combinations: 0, prefixes: 0, selectors: 0, wide: 0, names: 0 };

export const costOf = (templates: readonly RuleTemplate[]): PolicyCost => {
  const selected = new Map<string, Selection>();
  for (const { peers } of templates) if (peers.kind === 'pods') selected.set(peers.selection.text, peers.selection);
  return {
    combinations: sum(templates.map(weightOf)),
    prefixes: sum(templates.map(prefixesIn)),
    selectors: selected.size,
    wide: [...selected.values()].filter(({ scope }) => 'namespaces' in scope).length,
    names: sum(templates.map(({ direction, ports }) => (direction === 'Ingress' ? (ports?.named.length ?? 0) : 0))),
  };
};

export const plus = (a: PolicyCost, b: PolicyCost, sign: 1 | -1 = 1): PolicyCost => ({
  combinations: a.combinations + sign * b.combinations,
  prefixes: a.prefixes + sign * b.prefixes,
  selectors: a.selectors + sign * b.selectors,
  wide: a.wide + sign * b.wide,
  names: a.names + sign * b.names,
});

/** As many pods may be in the sets of peers that a namespace's policies need on a node, each set counted once. */
export const MAX_MEMBERS = 262_144;

export const sizeOf = (members: ReadonlyMap<string, number>): number => sum([...members.values()]);

/** The first part that is above its limit, in words. */
export const excessOf = (cost: PolicyCost, limits: PolicyCost): string | undefined => {
  const part = PARTS.find((one) => cost[one] > limits[one]);
  return part && `${cost[part]} ${WORDS[part]}, more than ${limits[part]}`;
};

const WORDS: Readonly<Record<keyof PolicyCost, string>> = {
  combinations: 'combinations of peers and ports',
  prefixes: 'prefixes of ipBlocks in its rules',
  selectors: 'peers that are selectors',
  wide: 'peers with a namespaceSelector',
  names: 'named ports of ingress',
};

const prefixesIn = (template: RuleTemplate): number => {
  const { peers } = template;
  if (peers.kind !== 'blocks') return 0;
  return weightOf(template) * sum([...peers.blocks.values()].map(({ length }) => length));
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
