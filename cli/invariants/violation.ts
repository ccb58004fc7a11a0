/** What must never be in a cluster, and is. */
export const RULES = [
  'claim',
  'network-id',
  'node-id',
  'node-subnet',
  'orphan',
  'pod-address',
  'pod-mac',
  'pod-tunnel-id',
  'tunnel-key',
  'unreadable',
] as const;
export type Rule = (typeof RULES)[number];

export interface Violation {
  readonly rule: Rule;
  /** `Pod/red/web`; the first is the one to look at. */
  readonly objects: readonly string[];
  /** A message without a full stop. */
  readonly message: string;
}

/** Something that one holder has, and nobody else may have. */
export interface Held {
  /** What must differ: unique within a rule and its scope. */
  readonly value: string;
  /** Who has it: the same holder may have it several times. */
  readonly holder: string;
  /** Where that is said. */
  readonly object: string;
}

/** @param text of the value, for the message */
export const givenTwice = (rule: Rule, held: Iterable<Held>, text: (value: string) => string): readonly Violation[] => {
  const first = new Map<string, Held>();
  const violations: Violation[] = [];
  for (const one of held) {
    const before = first.get(one.value);
    if (before === undefined) first.set(one.value, one);
    else if (before.holder !== one.holder) {
      const message = `${text(one.value)} is allocated to both ${before.holder} and ${one.holder}`;
      violations.push({ rule, objects: [before.object, one.object], message });
    }
  }
  return violations;
};
