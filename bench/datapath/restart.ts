/** An agent that starts where everything is right. */
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { OvnNode } from '../node/ovn-node.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';

const ROUNDS = 3;

/** Against the native tools that print what is there, one after the other. */
export const benchRestart = async ({
  signal,
  progress,
  manyNetworks,
  eachRun,
}: BenchContext): Promise<BenchResult[]> => {
  const many = await manyNetworks();
  progress(`node/restart-500: ${ROUNDS} starts`);
  const restart = async (): Promise<number> => {
    const { ms, written } = await many.restart();
    if (written > 0) throw new Error(`a restart wrote ${written} times where everything was right`);
    return ms;
  };
  return await eachRun(async (run) => {
    const rounds = { rounds: ROUNDS, run, warmUp: 1, signal };
    const { values, references } = await alternate(rounds, restart, () => dump(many.node));
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'node/restart-500', value, unit: 'ms', reference, rounds: ROUNDS })];
  });
};

const DUMPS: readonly (readonly string[])[] = [
  ['ovsdb-client', 'dump', 'unix:/run/ovn/ovnnb_db.sock', 'OVN_Northbound'],
  ['ovs-ofctl', '-O', 'OpenFlow15', 'dump-flows', 'br-ex'],
  ['ip', '-4', 'route', 'show', 'table', 'all'],
  ['ip', '-6', 'route', 'show', 'table', 'all'],
  ['ip', '-4', 'rule', 'show'],
  ['ip', '-6', 'rule', 'show'],
  ['ip', 'neigh', 'show', 'nud', 'all'],
  ['nft', 'list', 'table', 'inet', 'ovn-udn'],
];

const dump = async (node: OvnNode): Promise<number> => {
  const start = performance.now();
  for (const argv of DUMPS) await node.run(argv);
  return performance.now() - start;
};
