/** What a node costs that has a part of many networks and pods of few of them: rendered on demand, against always. */
import { podPortName } from '../../agent/model/names.ts';
import type { LocalSettings } from '../../agent/model/view.ts';
import { DAEMONS } from '../../sandbox/plan/daemons.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { OvnNode } from '../node/ovn-node.ts';
import { ageMs, cpuMilliseconds, rssKib, settledRssKib } from '../process-memory.ts';
import { podObject } from '../render/objects.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { observeOvn } from './ovn-cost.ts';
import { startWholeNode, type WholeNode } from './whole-node.ts';

const NETWORKS = 200;
const USED = 20;
const ROUNDS = 1;

type Rendering = LocalSettings['networkRendering'];

/** What is measured, with its unit. */
const UNITS = {
  rss: 'MiB',
  'rss-northd': 'MiB',
  'rss-vswitchd': 'MiB',
  'rss-databases': 'MiB',
  'rss-agent': 'MiB',
  'rss-all': 'MiB',
  flows: '',
  'logical-flows': '',
  datapaths: '',
  'controller-start': 'ms',
  'controller-cpu': 'ms',
} as const;

type Quantity = keyof typeof UNITS;
type Cost = Readonly<Record<Quantity, number>>;

export const ON_DEMAND_NAMES = Object.keys(UNITS).map((quantity) => `ovn/on-demand-${quantity}`);

/**
 * A node for each rendering, which all runs share. In each run another ovn-controller starts on both: one that has not seen how
 * everything came, as after the node's start.
 */
export const benchOnDemand = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`ovn/on-demand: pods of ${USED} of ${NETWORKS} networks, rendered on demand and always`);
  await using resources = new AsyncDisposableStack();
  const [onDemand, always] = [await start('on-demand', signal, resources), await start('always', signal, resources)];
  return await eachRun(async (run) => {
    const costs = await takeTurns<Rendering, Cost>(
      { rounds: ROUNDS, run, signal },
      { 'on-demand': () => costOf(onDemand, signal), always: () => costOf(always, signal) },
    );
    return Object.entries(UNITS).map(([quantity, unit]) => {
      const of = (rendering: Rendering): number => median(costs[rendering].map((cost) => cost[quantity as Quantity]));
      const [name, value, reference] = [`ovn/on-demand-${quantity}`, of('on-demand'), of('always')];
      return benchResult({ name, value, unit, reference, rounds: ROUNDS });
    });
  });
};

const start = async (
  networkRendering: Rendering,
  signal: AbortSignal,
  resources: AsyncDisposableStack,
): Promise<WholeNode> => {
  const name = `bench-${networkRendering}-${process.pid}`;
  const spec = { name, networks: NETWORKS, used: USED, networkRendering, withOvn: true, spare: 0 };
  const whole = resources.use(await startWholeNode(spec, signal));
  await plugPods(whole.node);
  await whole.quiet();
  return whole;
};

const costOf = async ({ node, quiet, started }: WholeNode, signal: AbortSignal): Promise<Cost> => {
  await node.crash('ovn-controller');
  await quiet();
  const controller = await node.pidOf('ovn-controller');
  const [age, cpu] = [await ageMs(controller), await cpuMilliseconds(controller)];
  // The others have come to rest with it, but ovs-vswitchd, which always has a little to do.
  await settledRssKib(controller, signal);
  const rss = new Map<string, number>();
  for (const daemon of DAEMONS) rss.set(daemon, (await rssKib(await node.pidOf(daemon))) / KIB);
  const of = (...daemons: readonly (typeof DAEMONS)[number][]): number =>
    daemons.reduce((sum, daemon) => sum + (rss.get(daemon) ?? 0), 0);
  const { flows, logicalFlows, datapaths } = await observeOvn(node);
  const agent = started.rssKib / KIB;
  return {
    rss: of('ovn-controller'),
    'rss-northd': of('northd'),
    'rss-vswitchd': of('ovs-vswitchd'),
    'rss-databases': of('ovsdb-server', 'nb', 'sb'),
    'rss-agent': agent,
    'rss-all': of(...DAEMONS) + agent,
    flows,
    'logical-flows': logicalFlows,
    datapaths,
    'controller-start': age,
    'controller-cpu': cpu,
  };
};

const KIB = 1024;

/** An interface for each port of each pod, as CNI makes it, until ovn-controller says that they are there. */
const plugPods = async (node: OvnNode): Promise<void> => {
  const links = Array.from({ length: USED }, (_, index) => index + 1).flatMap((tenant) => {
    const { namespace, name, uid } = podObject(tenant, 0).metadata;
    const ports = ['default', `${namespace}/net`].map((nad) => podPortName(nad, namespace ?? '', name));
    return ports.map((port, index) => ({
      link: `bench${tenant}-${index}`,
      ids: [`external_ids:iface-id=${port}`, `external_ids:iface-id-ver=${uid}`],
    }));
  });
  const commands = links.flatMap(({ link, ids }) => [
    ...['--', 'add-port', 'br-int', link],
    ...['--', 'set', 'Interface', link, 'type=internal', ...ids],
  ]);
  await node.run(['ovs-vsctl', ...commands], { timeoutMs: PLUG_MS });
  for (const { link } of links) {
    const installed = ['wait-until', 'Interface', link, 'external_ids:ovn-installed=true'];
    await node.run(['ovs-vsctl', `--timeout=${PLUG_MS / 1000}`, ...installed], { timeoutMs: PLUG_MS });
  }
};

const PLUG_MS = 60_000;
