/** One network more: until everything of it is programmed. */
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Done } from './node-agent.ts';
import { oneOvsPort, onePort } from './one-port.ts';
import { startWholeNode, type WholeNode } from './whole-node.ts';

const READY_NETWORKS = 20;
const READY_ROUNDS = 7;
const ADD_ROUNDS = 9;
const WARM_UP = 2;
const [FEW, MANY] = [10, 500];

export const READY_NAMES = ['node/network-ready', 'node/network-ready-secondary'] as const;

/**
 * With OVN at work: the patch port of the network is ovn-controller's. Against a port, by the native tools, on the same node; and a
 * secondary layer-2 network against the primary one.
 */
export const benchNetworkReady = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`node/network-ready: ${READY_ROUNDS} networks beside ${READY_NETWORKS} others, and as many ports`);
  const spec = { name: `bench-ready-${process.pid}`, networks: READY_NETWORKS, withOvn: true, spare: 0 };
  await using whole = await startWholeNode(spec, signal);
  return await eachRun(async (run) => {
    const turns = await takeTurns(
      { rounds: READY_ROUNDS, run, warmUp: WARM_UP, signal },
      {
        primary: async (round) => (await oneNetwork(whole, 2 * round)).ms,
        secondary: async (round) => (await oneNetwork(whole, 2 * round + 1, 'addSecondary')).ms,
        port: (round) => onePort(whole, round),
      },
    );
    const [primary, secondary, port] = [median(turns.primary), median(turns.secondary), median(turns.port)];
    const of = { unit: 'ms', rounds: READY_ROUNDS };
    const [ofPrimary, ofSecondary] = READY_NAMES;
    return [
      benchResult({ ...of, name: ofPrimary, value: primary, reference: port }),
      benchResult({ ...of, name: ofSecondary, value: secondary, reference: primary }),
    ];
  });
};

/** Each has a number of its own: ovn-controller keeps patch ports of networks that are gone for a while. */
const oneNetwork = async (whole: WholeNode, round: number, verb: 'add' | 'addSecondary' = 'add'): Promise<Done> => {
  const done = await whole[verb](whole.networks + 1 + round);
  await whole.remove(whole.networks + 1 + round);
  return done;
};

export const ADD_NETWORK_NAMES = [
  'node/add-network-500',
  'node/add-network-500-bytes',
  'node/add-network-500-over-port',
  'node/port-500',
] as const;

/**
 * Without northd and ovn-controller, which would be measured instead. Beside it a port by ovs-vsctl: ovs-vswitchd looks at
 * all of its ports for each, and no network is there before its port.
 */
export const benchAddNetwork = async (context: BenchContext): Promise<BenchResult[]> => {
  const { signal, progress, fewNetworks, manyNetworks, eachRun } = context;
  const [few, many] = [await fewNetworks(), await manyNetworks()];
  progress(`node/add-network-500: ${ADD_ROUNDS} networks and ports on each node`);
  const add = async (whole: WholeNode, into: number[], round: number): Promise<number> => {
    const done = await oneNetwork(whole, round % SPARE);
    if (round >= WARM_UP) into.push(done.bytes);
    return done.ms;
  };
  const [network, ofBytes, overPort, port] = ADD_NETWORK_NAMES;
  const result = (name: string, unit: string, of: readonly number[], than: readonly number[]): BenchResult =>
    benchResult({ name, value: median(of), unit, reference: median(than), rounds: ADD_ROUNDS });
  return await eachRun(async (run) => {
    const bytes = { few: [] as number[], many: [] as number[] };
    const ms = await takeTurns(
      { rounds: ADD_ROUNDS, run, warmUp: WARM_UP, signal },
      {
        many: (round) => add(many, bytes.many, round),
        few: (round) => add(few, bytes.few, round),
        portOfMany: (round) => oneOvsPort(many, round),
        portOfFew: (round) => oneOvsPort(few, round),
      },
    );
    return [
      result(network, 'ms', ms.many, ms.few),
      result(ofBytes, 'bytes', bytes.many, bytes.few),
      result(overPort, 'ms', ms.many, ms.portOfMany),
      result(port, 'ms', ms.portOfMany, ms.portOfFew),
    ];
  });
};

/** Networks that are added one after the other. */
const SPARE = 5;

export const startFew = (signal: AbortSignal): Promise<WholeNode> =>
  startWholeNode({ name: `bench-few-${process.pid}`, networks: FEW, withOvn: false, spare: SPARE }, signal);

export const startMany = (signal: AbortSignal): Promise<WholeNode> =>
  startWholeNode({ name: `bench-many-${process.pid}`, networks: MANY, withOvn: false, spare: SPARE }, signal);
