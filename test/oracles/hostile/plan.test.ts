import { expect, it } from 'vitest';
import { SOURCES } from './dimensions/sources.ts';
import { planOf } from './plan.ts';

it('is another sample in each run, and the same for a seed', () => {
  const { name } = planOf({});
  expect(name).toMatch(/^UDN_HOSTILE_SEED=\d+$/);
  expect(planOf({}).name).not.toBe(name);
  const again = planOf({ UDN_HOSTILE_SEED: name.replace('UDN_HOSTILE_SEED=', '') });
  expect(again.name).toBe(name);
  expect(planOf({ UDN_HOSTILE_SEED: '7' }).attacks).toEqual(planOf({ UDN_HOSTILE_SEED: '7' }).attacks);
});

it('has every source on one of the nodes, half of them on each, and over time on both', () => {
  const onSecond = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const { attacks } = planOf({ UDN_HOSTILE_SEED: String(seed) });
    expect(attacks.map(({ source }) => source)).toEqual(SOURCES);
    const second = attacks.filter(({ seat }) => seat === 1).map(({ source }) => source);
    expect(second).toHaveLength(SOURCES.length / 2);
    for (const source of second) onSecond.add(source);
  }
  expect(onSecond).toEqual(new Set(SOURCES));
});

it('has every source in one of two halves, on both nodes in each, and over time in both', () => {
  const inSecond = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const env = { UDN_HOSTILE_SEED: String(seed) };
    const [first, second] = ([0, 1] as const).map((half) => planOf(env, half).attacks);
    expect([...(first ?? []), ...(second ?? [])].sort(bySource)).toEqual([...planOf(env).attacks].sort(bySource));
    for (const attacks of [first, second]) expect(new Set(attacks?.map(({ seat }) => seat))).toEqual(new Set([0, 1]));
    for (const { source } of second ?? []) inSecond.add(source);
  }
  expect(inSecond).toEqual(new Set(SOURCES));
});

it('has everything from both nodes when all is asked for', () => {
  const { name, attacks, seats } = planOf({ UDN_HOSTILE: 'all', UDN_HOSTILE_SEED: '7' });
  expect([name, attacks.length, seats]).toEqual(['UDN_HOSTILE=all', 2 * SOURCES.length, [0, 1]]);
  expect(planOf({ UDN_HOSTILE: 'all' }, 0).attacks).toEqual(attacks);
  expect(() => planOf({ UDN_HOSTILE: 'some' })).toThrow('UDN_HOSTILE must be all or sample, not "some"');
});

const bySource = (a: { readonly source: string }, b: { readonly source: string }): number =>
  a.source.localeCompare(b.source);
