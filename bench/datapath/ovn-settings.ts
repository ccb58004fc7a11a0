/**
 * What OVN's own settings save, or cost, with many networks on a node: each against what the agent sets, in one run (ADR 47).
 * Each measurement has a node of its own: what a daemon once had it does not all give back.
 */
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { OvnNode } from '../node/ovn-node.ts';
import { ageMs, cpuMilliseconds, settledRssKib } from '../process-memory.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { observeOvn } from './ovn-cost.ts';
import { SETTING_QUANTITIES, SETTINGS, type SettingName, type SettingQuantity, settingName } from './ovn-names.ts';
import { startWholeNode, type WholeNode } from './whole-node.ts';

const NETWORKS = 60;
/** Added one after the other, beside the others. */
const MORE = 4;
const ROUNDS = 3;

type Command = (chassis: string) => readonly string[];

/** For ovn-controller of one chassis: these keys go before those for all, which the agent sets. ovn-controller(8) */
const controller =
  (key: string, value: string): Command =>
  (chassis) => ['ovs-vsctl', 'set', 'Open_vSwitch', '.', `external_ids:${key}-${chassis}=${value}`];

const COMMANDS: Readonly<Record<SettingName, Command>> = {
  'no-cache': controller('ovn-enable-lflow-cache', 'false'),
  'cache-1-mib': controller('ovn-memlimit-lflow-cache-kb', '1024'),
  'trim-after-1-s': controller('ovn-trim-timeout-ms', '1000'),
  conditions: controller('ovn-monitor-all', 'false'),
  // ovn-nb(5), NB_Global
  'no-ct-inv': () => ['ovn-nbctl', 'set', 'NB_Global', '.', 'options:use_ct_inv_match=false'],
  // ovn-northd(8)
  'northd-2-threads': () => ['ovn-appctl', '-t', 'ovn-northd', 'parallel-build/set-n-threads', '2'],
};

const AS_IT_IS = 'as-it-is';
type Turn = SettingName | typeof AS_IT_IS;
type Cost = Readonly<Record<SettingQuantity, number>>;

export const benchOvnSettings = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  const turn = (setting: Turn) => (): Promise<Cost> => {
    progress(`ovn/settings: ${NETWORKS} networks and ${MORE} more, ${setting}`);
    return costWith(setting, signal);
  };
  const turns = Object.fromEntries([AS_IT_IS, ...SETTINGS].map((setting) => [setting, turn(setting as Turn)]));
  return await eachRun(async (run) =>
    resultsOf(await takeTurns<Turn, Cost>({ rounds: ROUNDS, run, signal }, turns as Record<Turn, () => Promise<Cost>>)),
  );
};

const resultsOf = (costs: Readonly<Record<Turn, readonly Cost[]>>): BenchResult[] => {
  const quantities = Object.keys(SETTING_QUANTITIES) as SettingQuantity[];
  return SETTINGS.flatMap((setting) =>
    quantities.map((quantity) => {
      const of = (which: Turn): number => median(costs[which].map((cost) => cost[quantity]));
      const [value, reference] = [of(setting), of(AS_IT_IS)];
      const name = settingName(setting, quantity);
      return benchResult({ name, value, unit: SETTING_QUANTITIES[quantity], reference, rounds: ROUNDS });
    }),
  );
};

const costWith = async (setting: Turn, signal: AbortSignal): Promise<Cost> => {
  const prepare = async (node: OvnNode): Promise<void> => {
    if (setting !== AS_IT_IS) await node.run(COMMANDS[setting](await chassisOf(node)));
  };
  const name = `bench-${setting}-${process.pid}`;
  await using whole = await startWholeNode({ name, networks: NETWORKS, withOvn: true, spare: 0, prepare }, signal);
  const { node, quiet } = whole;
  const added = await costOfMore(whole);
  const northd = await settledRssKib(await node.pidOf('northd'), signal);
  const grown = await settledRssKib(await node.pidOf('ovn-controller'), signal);
  await node.crash('ovn-controller');
  await quiet();
  const pid = await node.pidOf('ovn-controller');
  const [age, cpu] = [await ageMs(pid), await cpuMilliseconds(pid)];
  return {
    ...added,
    'rss-grown': grown / KIB,
    rss: (await settledRssKib(pid, signal)) / KIB,
    'rss-northd': northd / KIB,
    'restart-per-network': age / (NETWORKS + MORE),
    'restart-cpu-per-network': cpu / (NETWORKS + MORE),
  };
};

const KIB = 1024;

/** Each of some more networks. */
const costOfMore = async (whole: WholeNode): Promise<Pick<Cost, 'recomputes' | 'ready' | 'controller-cpu'>> => {
  // The first one finds ovn-controller just started, when it does more than later.
  await whole.add(NETWORKS + MORE);
  const before = await observeOvn(whole.node);
  const start = performance.now();
  for (let more = 1; more < MORE; more++) await whole.add(NETWORKS + more);
  const ready = performance.now() - start;
  const after = await observeOvn(whole.node);
  const each = MORE - 1;
  return {
    ready: ready / each,
    recomputes: (after.recomputes - before.recomputes) / each,
    'controller-cpu': (after.cpu - before.cpu) / each,
  };
};

const chassisOf = async (node: OvnNode): Promise<string> =>
  (await node.run(['ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids:system-id'])).trim().replaceAll('"', '');
