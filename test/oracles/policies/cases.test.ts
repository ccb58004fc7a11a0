import { describe, expect, it } from 'vitest';
import { type CaseStep, fits, type Place } from './case.ts';
import { POLICY_CASES } from './cases.ts';
import { evaluate } from './evaluator.ts';
import type { PolicyProtocol, World } from './types.ts';
import { CASE_POD_KEYS, caseWorld } from './world.ts';

const addresses = (key: string): string[] => {
  const index = CASE_POD_KEYS.indexOf(key) + 3;
  return [`10.90.${index % 2}.${index}`, `fd00:90:0:${index % 2}::${index}`];
};

const PLACE: Place = {
  namespace: (name) => `net-${name}`,
  blocks: (pod, size) => {
    const [four = '', six = ''] = addresses(pod);
    return size === 'address' ? [`${four}/32`, `${six}/128`] : ['0.0.0.0/4', 'f000::/4'];
  },
};

it('has the 48 cases of Kubernetes, each once', () => {
  expect(new Set(POLICY_CASES.map(({ title }) => title)).size).toBe(POLICY_CASES.length);
  expect(POLICY_CASES).toHaveLength(48);
});

describe.each(POLICY_CASES.map(({ title, steps }) => [title, steps] as const))('%s', (_title, steps) => {
  it.each(steps(PLACE).map((step, index) => [index + 1, step] as const))(
    'is evaluated as a person does, step %i',
    (_index, step) => {
      const world = caseWorld(step, { place: PLACE, network: 'net', addresses });
      for (const on of Object.keys(step.expected)) expect(evaluated(world, on)).toEqual(said(step, on));
    },
  );
});

const PAIRS = CASE_POD_KEYS.flatMap((from) =>
  CASE_POD_KEYS.flatMap((to) => [4, 6].map((family) => ({ from, to, family }))),
);

const describePair = ({ from, to, family }: (typeof PAIRS)[number], isAllowed: boolean): string =>
  `${from} → ${to} IPv${family} ${isAllowed}`;

const said = (step: CaseStep, on: string): string[] =>
  PAIRS.map((pair) => {
    const last = step.expected[on]?.findLast(([from, to]) => fits(from, pair.from) && fits(to, pair.to));
    return describePair(pair, pair.from === pair.to || (last?.[2] ?? true));
  });

const evaluated = (world: World, on: string): string[] => {
  const [protocol, port] = on.split(' ') as [PolicyProtocol, string];
  return PAIRS.map((pair) => {
    const from = world.pods[CASE_POD_KEYS.indexOf(pair.from)];
    const to = world.pods[CASE_POD_KEYS.indexOf(pair.to)];
    const address = addresses(pair.to)[pair.family === 4 ? 0 : 1];
    if (from === undefined || to === undefined || address === undefined) throw new Error('no such pod');
    return describePair(pair, evaluate(world, { from, to, address, protocol, port: Number(port) }).allowed);
  });
};
