/** Random contents of objects, right ones and wrong ones. */

/** Numbers that a seed decides (a linear congruential generator: the same everywhere). */
export interface Chance {
  maybe(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  some<T>(values: readonly T[], probability?: number): T[];
}

export const createChance = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    maybe: (probability) => next() < probability,
    pick: (values) => values[Math.floor(next() * values.length)] as (typeof values)[number],
    some: (values, probability = 0.5) => values.filter(() => next() < probability),
  };
};

type Content = Record<string, unknown>;

const mapOf = (chance: Chance, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(chance.some(keys).map((key) => [key, chance.pick(['1', '2'])]));

const optional = (chance: Chance, probability: number, content: () => Content): Content =>
  chance.maybe(probability) ? content() : {};

export const metadata = (chance: Chance): Content => ({
  ...optional(chance, 0.4, () => ({ labels: mapOf(chance, ['l1', 'l2']) })),
  ...optional(chance, 0.4, () => ({ annotations: mapOf(chance, ['a1', 'a2']) })),
  ...optional(chance, 0.15, () => ({ finalizers: chance.some(['example.org/f1', 'example.org/f2'], 0.6) })),
});

export const status = (chance: Chance): Content => ({
  ...optional(chance, 0.5, () => ({ phase: chance.pick(['A', 'B']) })),
  ...optional(chance, 0.6, () => ({
    conditions: chance.some(['R', 'S'], 0.6).map((type) => ({ type, status: chance.pick(['True', 'False']) })),
  })),
});

const servicePort = (chance: Chance, port: number): Content => ({
  ...optional(chance, 0.9, () => ({ name: chance.pick(['p1', 'p2', 'p3']) })),
  port,
  ...optional(chance, 0.5, () => ({ protocol: chance.pick(['TCP', 'UDP']) })),
  ...optional(chance, 0.4, () => ({ targetPort: chance.pick([8080, 8081]) })),
});

const serviceSpec = (chance: Chance): Content => ({
  ...optional(chance, 0.9, () => ({ ports: chance.some([80, 81, 82], 0.6).map((port) => servicePort(chance, port)) })),
  ...optional(chance, 0.5, () => ({ selector: { app: chance.pick(['a', 'b']) } })),
  ...optional(chance, 0.05, () => ({ sessionAffinity: 'ClientIP' })),
});

const part = (chance: Chance): Content => ({
  ...optional(chance, 0.95, () => ({ id: chance.pick(['a', 'b', 'c']) })),
  ...optional(chance, 0.5, () => ({ count: chance.pick([1, 2]) })),
  ...optional(chance, 0.4, () => ({ note: chance.pick(['n', 'm']) })),
});

/** @param isApply without what a real server's field removal gets wrong: fields that no schema declares */
const widgetSpec = (chance: Chance, isApply: boolean): Content => ({
  ...optional(chance, 0.9, () => ({ size: chance.pick([1, 2, 3, 11]) })),
  ...optional(chance, 0.2, () => ({ color: chance.pick(['red', 'blue', 'green', null]) })),
  ...optional(chance, 0.3, () => ({ nested: chance.pick([{}, { on: false }, { odd: 1 }]) })),
  ...optional(chance, 0.3, () => ({ tags: chance.some(['a', 'b', 'c', 'd'], 0.4) })),
  ...optional(chance, 0.4, () => ({ parts: chance.some([1, 2]).map(() => part(chance)) })),
  ...optional(chance, 0.3, () => ({ plain: chance.pick([['x'], ['y', 'z'], []]) })),
  ...optional(chance, 0.3, () => ({ whole: chance.pick([{ k: 'v' }, { l: 'w' }, {}]) })),
  ...optional(chance, 0.2, () => ({ limits: chance.pick([{ cpu: 1 }, { mem: 2 }, {}]) })),
  ...(isApply
    ? {}
    : optional(chance, 0.3, () => ({ free: chance.pick([{ any: { x: [1] } }, { any: { y: 2 } }, {}]) }))),
});

/** By the plural name of the resource. */
export const SPECS = {
  configmaps: (chance: Chance): Content => ({ data: mapOf(chance, ['k1', 'k2', 'k3']) }),
  services: (chance: Chance): Content => ({ spec: serviceSpec(chance) }),
  widgets: (chance: Chance, isApply: boolean): Content => ({ spec: widgetSpec(chance, isApply) }),
} as const;
