/** Every pod of some worlds tries every other one: what is to answer, and what does. */
import { expect } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { evaluate, type Verdict } from './evaluator.ts';
import { answersTo, type Patience } from './run.ts';
import type { PolicyProtocol, Try, World } from './types.ts';

export interface Expected extends Try {
  readonly verdict: Verdict;
}

/** Of every pair of pods of one world, at each address of the receiver. Nobody asks itself: what a pod may do there no policy says. */
export const expectedOf = (world: World, protocols: readonly PolicyProtocol[], ports: readonly number[]): Expected[] =>
  world.pods.flatMap((from) =>
    world.pods
      .filter((to) => to !== from)
      .flatMap((to) =>
        to.addresses.flatMap((address) =>
          protocols.flatMap((protocol) =>
            ports.map((port) => {
              const attempt = { from, to, address, protocol, port };
              return { ...attempt, verdict: evaluate(world, attempt) };
            }),
          ),
        ),
      ),
  );

const SEVERAL: Patience = { timeoutMs: 300, tries: 2 };
const LONG: Patience = { timeoutMs: 700, tries: 1 };
/** Rules that allow may come later, says Kubernetes; also those that isolate pods which are there already. */
const PATIENCE_MS = 30_000;

/**
 * Waits until all is as expected, and looks once more whether what is forbidden stays so. What answers must be who was meant: tenants
 * have the same addresses.
 */
export const expectTable = async (sandbox: Sandbox, expected: readonly Expected[]): Promise<void> => {
  let pending = expected;
  await eventually(
    async () => {
      const wrong = await wrongOf(sandbox, pending, SEVERAL);
      pending = wrong.map(([one]) => one);
      expect(wrong.map(([, text]) => text).slice(0, LINES)).toEqual([]);
    },
    PATIENCE_MS * (await sandbox.slowdown()),
  );
  const forbidden = expected.filter(({ verdict }) => !verdict.allowed);
  const open = await wrongOf(sandbox, forbidden, LONG);
  expect(open.map(([, text]) => `again: ${text}`).slice(0, LINES)).toEqual([]);
};

/** More of them say nothing more. */
const LINES = 20;

const wrongOf = async (
  sandbox: Sandbox,
  expected: readonly Expected[],
  patience: Patience,
): Promise<(readonly [Expected, string])[]> => {
  const answers = await answersTo(sandbox, expected, patience);
  return expected.flatMap((one, index) => {
    const answer = answers[index];
    const meant = one.verdict.allowed ? keyOf(one.to) : undefined;
    return answer === meant ? [] : [[one, `${describeTry(one)}: ${answer ?? 'silence'}`] as const];
  });
};

const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

const describeTry = ({ from, to, address, protocol, port, verdict }: Expected): string =>
  `${keyOf(from)} → ${keyOf(to)} ${address} ${protocol} ${port} (${verdict.allowed ? 'allowed' : 'forbidden'}, egress ${verdict.egress}, ingress ${verdict.ingress})`;
