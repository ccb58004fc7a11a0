/** The cells of the matrix, asked with packets: a test for each client, who asks everything at once. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { readPod } from '../../e2e/support/cluster/cluster.ts';
import { outside } from '../../e2e/support/networks/north-south.ts';
import { addressesOf } from '../../e2e/support/packets/packets.ts';
import { fromHost, fromOutside, fromPod } from '../../e2e/support/services/entry-points.ts';
import type { RunThere, Target } from '../reachability/service-clients.ts';
import type { Choice } from './choice.ts';
import { type Answer, askAll, type Expecting } from './client.ts';
import { type Asked, CLIENTS, type MatrixClient } from './clients.ts';
import type { Cell } from './dimensions.ts';
import { createEvaluator, type Evaluator } from './evaluator.ts';
import { type ExpectedCell, expand } from './row.ts';
import { LEFT_OUT, ROWS } from './rows.ts';
import type { Client } from './seen.ts';
import { makeWorld, NEAR, targetOf, type World } from './world.ts';

export interface MatrixOptions {
  readonly mode: Cell['mode'];
  /** Of the cells of that mode. */
  readonly choice: Choice;
  /** A guest is slow. */
  readonly patienceMs: number;
}

/** What a guest may take for each where it is asked for all. */
const CELL_MS = 500;

/** Call it where tests are declared. */
export const serviceMatrix = (cluster: () => Sandbox, { mode, choice, patienceMs }: MatrixOptions): void => {
  const cells = choice.of(expand(ROWS, LEFT_OUT).filter(({ cell }) => cell.mode === mode));
  describe(`who reaches which Service, ${mode} gateway mode (${choice.name})`, () => {
    let world: World;

    beforeAll(async () => {
      world = await makeWorld(
        cluster(),
        cells.map(({ cell }) => cell),
      );
    }, 400_000);

    const ofClient = CLIENTS.map((client) => ({ client, expected: cells.filter(({ cell }) => asks(client, cell)) }));
    it.each(ofClient.filter(({ expected }) => expected.length > 0))(
      '$client.name asks',
      async ({ client, expected }) => {
        const longEnough = Math.max(patienceMs, expected.length * CELL_MS);
        const run = runnerOf(cluster(), client);
        const ask: Ask = (targets, expecting) => askAll(run, targets, expecting);
        const evaluator = createEvaluator(expected, await identityOf(cluster(), client));
        await evaluateAll(evaluator, world, ask, longEnough);
      },
      Math.max(patienceMs, cells.length * CELL_MS) + 120_000,
    );
  });
};

const asks = ({ asked }: MatrixClient, { from, owner }: Cell): boolean =>
  asked.some((one: Asked) => one.from === from && one.owners.includes(owner));

type Ask = (targets: readonly Target[], expecting: Expecting) => Promise<Answer[]>;

/**
 * First what is answered or refused, again where it is not yet so. Then what must stay silent: it would be, too, as long as
 * nothing is there.
 */
const evaluateAll = async (evaluator: Evaluator, world: World, ask: Ask, patienceMs: number): Promise<void> => {
  const askAbout = async (
    questions: readonly ExpectedCell[],
    record: Evaluator['take'],
    expecting: Expecting = 'answers',
  ): Promise<void> => {
    const targets = questions.map(({ cell }) => targetOf(world, cell));
    const answers = await ask(targets, expecting);
    for (const [index, answer] of answers.entries()) record(questions[index] as ExpectedCell, answer);
  };
  const round = (open: readonly ExpectedCell[]): Promise<void> => {
    const questions = open.flatMap((one) => Array.from({ length: evaluator.timesToAsk(one) }, () => one));
    return askAbout(questions, evaluator.take);
  };
  await eventually(async () => {
    await round(evaluator.open());
    expect(evaluator.problems()).toEqual([]);
  }, patienceMs);
  await askAbout(evaluator.quiet(), evaluator.take, 'silence');
  const confirm = (cells: readonly ExpectedCell[]): Promise<void> =>
    askAbout(
      cells.flatMap((one) => Array.from({ length: TIMES_AGAIN }, () => one)),
      evaluator.confirm,
    );
  await confirm(evaluator.doubtful());
  await confirm(evaluator.unsure());
  expect(evaluator.problems()).toEqual([]);
};

/** An endpoint that should have no part would be missed once in thirty times, for each of dozens of cells. */
const TIMES_AGAIN = 5;

const runnerOf = (sandbox: Sandbox, { kind, name }: MatrixClient): RunThere => {
  if (kind === 'outside') return fromOutside(sandbox);
  return kind === 'node' ? fromHost(sandbox, name) : fromPod(sandbox, name);
};

const identityOf = async (sandbox: Sandbox, { kind, name }: MatrixClient): Promise<Client> => {
  if (kind === 'outside') return { own: [outside(4), outside(6)] };
  const own = kind === 'pod' ? addressesOf(await readPod(sandbox, name)) : [];
  return { own, node: NEAR, management: await managementAddresses(sandbox) };
};

const managementAddresses = async (sandbox: Sandbox): Promise<string[]> => {
  const { stdout } = await sandbox.node(NEAR, ['ip', '-o', 'address', 'show', 'dev', 'ovn-k8s-mp0']);
  return [...stdout.matchAll(/inet6? ([^/]+)\//g)].map(([, address = '']) => address);
};
