/**
 * How often and how much 500 agents and the cluster manager write about 1,000 networks: on an API server in memory and with time
 * that goes on by itself, as what is written is counted, and not how long that takes.
 */
import type { NetworkStatus } from '../../api/network-status.ts';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { createTestCluster, type TestCluster } from '../../cluster-manager/testing/harness.ts';
import { layer2Udn, node, tenant } from '../../cluster-manager/testing/objects.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { measureOneObject } from './one-object.ts';
import { type SimulatedAgents, type SimulatedNetwork, type SimulatedNode, simulateAgents } from './simulated-agents.ts';

export const NODE_STATUS_WRITES_NAMES = [
  'control/node-status/stored',
  'control/node-status/reports',
  'control/node-status/status-writes',
];

const NODES = 500;
const NETWORKS = 1_000;
/** Longer than an agent and then the cluster manager may wait. */
const SETTLED_MS = 160_000;
const FLAPS = 30;
const FLAP_MS = 2_000;

export const benchNodeStatusWrites = async ({ progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`control/node-status: ${NODES} nodes and ${NETWORKS} networks in memory`);
  await using resources = new AsyncDisposableStack();
  const clock = createFakeClock();
  const cluster = await createTestCluster({ clock });
  resources.defer(() => cluster.close());
  const { nodes, networks } = await fill(cluster);
  const run: Run = { cluster, clock, agents: simulated(cluster, nodes, clock), progress };
  resources.defer(() => run.agents.stop());
  const [red] = networks;
  if (red === undefined) throw new Error('there is no network');
  await passed(run, SETTLED_MS);
  await phase(run, 'every agent starts, with all networks', () => run.agents.have(networks));
  const one = await phase(run, 'one network fails on all nodes', () => run.agents.fail(red, 'EINVAL'));
  await phase(run, 'and is well again', () => run.agents.have([red]));
  await phase(run, 'it fails on one node', () => run.agents.fail(red, 'EINVAL', nodes.slice(0, 1)));
  const flaps = await phase(run, 'it flaps on all nodes for a minute', () => flap(run, red));
  await phase(run, 'every agent starts again', () => run.agents.restart());
  await phase(run, 'nothing changes for some minutes', () => undefined);
  const names = nodes.map(({ name }) => name);
  const object = await measureOneObject(cluster.client, names);
  progress(`  one object with ${NODES} field managers: ${JSON.stringify(object)}`);
  const changes = { unit: 'writes', reference: FLAPS * NODES, rounds: 1 };
  const stored = { unit: 'KiB', reference: object.bytesStored / 1024, rounds: 1 };
  return [
    benchResult({ name: 'control/node-status/stored', value: one.bytesStored / 1024, ...stored }),
    benchResult({ name: 'control/node-status/reports', value: flaps.reports, ...changes }),
    benchResult({ name: 'control/node-status/status-writes', value: flaps.statusWrites, ...changes }),
  ];
};

interface Run {
  readonly cluster: TestCluster;
  readonly clock: FakeClock;
  readonly agents: SimulatedAgents;
  readonly progress: BenchContext['progress'];
}

const fill = async (cluster: TestCluster) => {
  cluster.start();
  for (let i = 0; i < NODES; i += 1) await cluster.create(node(`simulated-${i}`));
  for (let i = 0; i < NETWORKS; i += 1) await cluster.create(tenant(`t${i}`), layer2Udn(`t${i}/net`, ['10.2.0.0/16']));
  await cluster.settled();
  const nodes = (await cluster.list('Node')).map(({ metadata: { name, uid } }): SimulatedNode => ({ name, uid }));
  // As agents know them: by their NADs.
  const nads = await cluster.list('NetworkAttachmentDefinition');
  const createdAt = new Map(nads.map(({ metadata }) => [metadata.namespace, metadata.creationTimestamp]));
  const networks = (await cluster.list('UserDefinedNetwork')).map(({ metadata, ...udn }): SimulatedNetwork => {
    const { networkName: name = '', networkID: id = 0 } = udn['status'] as NetworkStatus;
    return { name, id, createdAt: createdAt.get(metadata.namespace) ?? '' };
  });
  return { nodes, networks };
};

const simulated = ({ client }: TestCluster, nodes: readonly SimulatedNode[], clock: FakeClock): SimulatedAgents =>
  simulateAgents({ client, nodes, rendering: 'Always', clock, random: Math.random });

const flap = async (run: Run, network: SimulatedNetwork): Promise<void> => {
  for (let turn = 0; turn < FLAPS; turn += 1) {
    if (turn % 2 === 0) run.agents.fail(network, `try ${turn}`);
    else run.agents.have([network]);
    await passed(run, FLAP_MS);
  }
};

const passed = async ({ clock, cluster }: Pick<Run, 'clock' | 'cluster'>, milliseconds: number): Promise<void> => {
  for (let now = 0; now < milliseconds; now += FLAP_MS) {
    await clock.advance(FLAP_MS);
    await cluster.settled();
  }
};

const phase = async (run: Run, name: string, change: () => void | Promise<void>) => {
  const before = reading(run);
  await change();
  await passed(run, SETTLED_MS);
  const after = reading(run);
  const cost = {
    reads: after.reads - before.reads,
    reports: after.writes - after.renewals - (before.writes - before.renewals),
    bytesSent: after.bytesSent - before.bytesSent,
    bytesStored: after.bytesStored - before.bytesStored,
    statusWrites: after.statusWrites - before.statusWrites,
  };
  run.progress(`  ${name}: ${JSON.stringify(cost)}`);
  return cost;
};

const reading = ({ agents, cluster }: Run) => ({
  ...agents.tally,
  statusWrites: cluster.observations.filter(
    (one) =>
      one.source === 'writer' && one.about.kind === 'written' && one.about.resource.plural === 'userdefinednetworks',
  ).length,
});
