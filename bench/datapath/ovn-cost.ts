/** What the 21st network costs OVN. */
import {
  clusterRouterName,
  externalSwitchName,
  gatewayRouterName,
  joinSwitchName,
  nodeSwitchName,
  transitSwitchName,
} from '../../agent/model/names.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { OvnNode } from '../node/ovn-node.ts';
import { cpuMilliseconds } from '../process-memory.ts';
import { LOCAL_NODE, namespaceOf } from '../render/objects.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { DATAPATHS, type DatapathName, datapathFlowsName } from './ovn-names.ts';
import { startWholeNode, type WholeNode } from './whole-node.ts';

const NETWORKS = 20;
const ROUNDS = 3;

/** By the name of their network. */
const DATAPATH_NAMES: Readonly<Record<DatapathName, (network: string) => string>> = {
  'cluster-router': clusterRouterName,
  'node-switch': (network) => nodeSwitchName(network, LOCAL_NODE),
  'transit-switch': transitSwitchName,
  'join-switch': joinSwitchName,
  'gateway-router': (network) => gatewayRouterName(network, LOCAL_NODE),
  'external-switch': (network) => externalSwitchName(network, LOCAL_NODE),
};

export const OVN_COST_NAMES: readonly string[] = [
  ...['recomputes', 'flows', 'logical-flows', 'datapaths', 'controller-cpu'].map((what) => `ovn/${what}-per-network`),
  'ovn/recomputes-per-secondary',
  ...DATAPATHS.map(datapathFlowsName),
];

interface Cost {
  readonly recomputes: number;
  readonly flows: number;
  readonly logicalFlows: number;
  readonly datapaths: number;
  readonly cpu: number;
}

/** Each network is taken away before the next one is added. */
export const benchOvnCost = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`ovn: ${ROUNDS} networks in each run beside ${NETWORKS} others`);
  const spec = { name: `bench-ovn-${process.pid}`, networks: NETWORKS, withOvn: true, spare: 0 };
  await using whole = await startWholeNode(spec, signal);
  const parts = await flowsOfDatapaths(whole.node, `${namespaceOf(NETWORKS)}_net`);
  // The first one finds ovn-controller just started, when it does more than later.
  const rounds = { rounds: ROUNDS, warmUp: 1, signal };
  return await eachRun(async (run) => {
    const { more, secondary } = await takeTurns(
      { ...rounds, run },
      {
        more: (round) => oneMore(whole, NETWORKS + 1 + 2 * round, 'add'),
        secondary: (round) => oneMore(whole, NETWORKS + 2 + 2 * round, 'addSecondary'),
      },
    );
    return [...resultsOf(more, parts), recomputesOf(secondary)];
  });
};

const resultsOf = (costs: readonly Cost[], parts: Readonly<Record<DatapathName, number>>): BenchResult[] => {
  const result = (name: string, unit: string, of: (cost: Cost) => number): BenchResult =>
    benchResult({ name: `ovn/${name}`, value: median(costs.map(of)), unit, reference: 1, rounds: ROUNDS });
  return [
    result('recomputes-per-network', '', ({ recomputes }) => recomputes),
    result('flows-per-network', '', ({ flows }) => flows),
    result('logical-flows-per-network', '', ({ logicalFlows }) => logicalFlows),
    result('datapaths-per-network', '', ({ datapaths }) => datapaths),
    result('controller-cpu-per-network', 'ms', ({ cpu }) => cpu),
    ...DATAPATHS.map((datapath) =>
      benchResult({ name: datapathFlowsName(datapath), value: parts[datapath], unit: '', reference: 1, rounds: 1 }),
    ),
  ];
};

const recomputesOf = (costs: readonly Cost[]): BenchResult =>
  benchResult({
    name: 'ovn/recomputes-per-secondary',
    value: median(costs.map(({ recomputes }) => recomputes)),
    unit: '',
    reference: 1,
    rounds: ROUNDS,
  });

const oneMore = async (whole: WholeNode, network: number, verb: 'add' | 'addSecondary'): Promise<Cost> => {
  const before = await observeOvn(whole.node);
  await whole[verb](network);
  const after = await observeOvn(whole.node);
  await whole.remove(network);
  return {
    recomputes: after.recomputes - before.recomputes,
    flows: after.flows - before.flows,
    logicalFlows: after.logicalFlows - before.logicalFlows,
    datapaths: after.datapaths - before.datapaths,
    cpu: after.cpu - before.cpu,
  };
};

/** Flows of br-int that are of no other datapath, ovn-architecture(7) "Logical datapath field". */
const flowsOfDatapaths = async (node: OvnNode, network: string): Promise<Record<DatapathName, number>> => {
  const list = ['--no-headings', '--format=csv', '--columns=tunnel_key,external_ids', 'list', 'Datapath_Binding'];
  const datapaths = (await node.run(['ovn-sbctl', ...list])).split('\n');
  const flows = (await node.run(['ovs-ofctl', 'dump-flows', 'br-int', '--no-stats'])).split('\n');
  const countOf = (name: string): number => {
    const datapath = datapaths.find((line) => line.split(/[ ,{}]/).includes(`name=${name}`));
    if (datapath === undefined) throw new Error(`there is no datapath ${name}`);
    const metadata = `metadata=0x${Number.parseInt(datapath, 10).toString(16)}`;
    return flows.filter((flow) => flow.split(/[, ]/).includes(metadata)).length;
  };
  const entries = DATAPATHS.map((datapath) => [datapath, countOf(DATAPATH_NAMES[datapath](network))]);
  return Object.fromEntries(entries) as Record<DatapathName, number>;
};

export const observeOvn = async (node: OvnNode): Promise<Cost> => {
  const rows = async (table: string): Promise<number> =>
    lines(await node.run(['ovn-sbctl', '--no-headings', '--format=csv', '--columns=_uuid', 'list', table]));
  const stats = await node.run(['ovn-appctl', '-t', 'ovn-controller', 'inc-engine/show-stats', LFLOWS, 'recompute']);
  const aggregate = await node.run(['ovs-ofctl', 'dump-aggregate', 'br-int']);
  return {
    recomputes: Number(stats),
    flows: Number(/flow_count=(\d+)/.exec(aggregate)?.[1]),
    logicalFlows: await rows('Logical_Flow'),
    datapaths: await rows('Datapath_Binding'),
    cpu: await cpuMilliseconds(await node.pidOf('ovn-controller')),
  };
};

/** The node of ovn-controller's engine that makes flows of all logical flows: what a recompute costs is its work. */
const LFLOWS = 'logical_flow_output';

const lines = (text: string): number => text.split('\n').filter((line) => line !== '').length;
