/**
 * What reports of nodes cost, with the agents' reporters and the cluster manager as they are, on an API server in memory:
 * 50 nodes, 100 networks, and time as the test likes it. `make bench ONLY=control/node-status` does it at full size.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renewMs, reportSpreadMs } from '../../../agent/status/network-report/reporter.ts';
import type { NetworkStatus } from '../../../api/network-status.ts';
import { createFakeClock, type FakeClock } from '../../../base/testing/fake-clock.ts';
import {
  type SimulatedAgents,
  type SimulatedNetwork,
  type SimulatedNode,
  simulateAgents,
} from '../../../bench/node-status/simulated-agents.ts';
import { usageDelayMs } from '../../../cluster-manager/controllers/network-usage.ts';
import { createTestCluster, type TestCluster } from '../../../cluster-manager/testing/harness.ts';
import { layer2Udn, node, tenant } from '../../../cluster-manager/testing/objects.ts';

const NODES = 50;
const NETWORKS = 100;
/** How long a change takes at most until all agents have written it. */
const SPREAD_MS = 1_000 + 2 * reportSpreadMs(NODES);

let cluster: TestCluster;
let clock: FakeClock;
let nodes: readonly SimulatedNode[];
let networks: readonly SimulatedNetwork[];
let agents: SimulatedAgents;

/** Two seconds at a time, with all that follows from them. */
const pass = async (milliseconds: number): Promise<void> => {
  for (let passed = 0; passed < milliseconds; passed += 2_000) {
    await clock.advance(2_000);
    await cluster.settled();
  }
};

const statusWrites = (): number =>
  cluster.observations.filter(
    (one) =>
      one.source === 'writer' && one.about.kind === 'written' && one.about.resource.plural === 'userdefinednetworks',
  ).length;

/** What was written by agents and to networks meanwhile. */
const writtenWhile = async (change: () => void | Promise<void>, milliseconds: number) => {
  const before = { reports: changedReports(), statuses: statusWrites() };
  await change();
  await pass(milliseconds);
  return { reports: changedReports() - before.reports, statuses: statusWrites() - before.statuses };
};

const changedReports = (): number => agents.tally.writes - agents.tally.renewals;

/** As agents know them: by their NADs. */
const readNetworks = async (): Promise<SimulatedNetwork[]> => {
  const nads = await cluster.list('NetworkAttachmentDefinition');
  const createdAt = new Map(nads.map(({ metadata }) => [metadata.namespace, metadata.creationTimestamp]));
  return (await cluster.list('UserDefinedNetwork')).map(({ metadata: { namespace }, ...udn }) => {
    const { networkName = '', networkID = 0 } = udn['status'] as NetworkStatus;
    return { name: networkName, id: networkID, createdAt: createdAt.get(namespace) ?? '' };
  });
};

const nodesOf = async (namespace: string): Promise<NetworkStatus['nodes']> =>
  ((await cluster.get('UserDefinedNetwork', `${namespace}/net`))?.['status'] as NetworkStatus | undefined)?.nodes;

beforeAll(async () => {
  clock = createFakeClock();
  cluster = await createTestCluster({ clock });
  cluster.start();
  await cluster.create(...Array.from({ length: NODES }, (_, i) => node(`n${i}`)));
  for (let i = 0; i < NETWORKS; i += 1) await cluster.create(tenant(`t${i}`), layer2Udn(`t${i}/net`, ['10.2.0.0/16']));
  await cluster.settled();
  networks = await readNetworks();
  nodes = (await cluster.list('Node')).map(({ metadata: { name, uid } }) => ({ name, uid }));
  let seed = 1;
  const random = (): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  agents = simulateAgents({ client: cluster.client, nodes, rendering: 'Always', clock, random });
  agents.have(networks);
  await pass(60_000);
}, 60_000);
afterAll(async () => {
  agents.stop();
  await cluster.close();
});

describe('what 50 nodes report of 100 networks', () => {
  it('is one write of each node, and of each network not more than its limit in that time', async () => {
    expect(networks).toHaveLength(NETWORKS);
    expect(agents.tally).toMatchObject({ reads: NODES, failures: 0 });
    expect(changedReports()).toBe(NODES);
    expect(agents.tally.bytesStored / agents.tally.writes).toBeLessThan(1_100);
    for (const index of [0, 99]) {
      expect(await nodesOf(`t${index}`)).toMatchObject({
        summary: `${NODES}/${NODES}`,
        ready: NODES,
        pending: 0,
        failing: 0,
        silent: 0,
      });
    }
    const { renewals } = agents.tally;
    const idle = await writtenWhile(() => undefined, 600_000);
    expect(idle).toEqual({ reports: 0, statuses: 0 });
    expect(agents.tally.renewals - renewals).toBeLessThanOrEqual(NODES * (600_000 / renewMs(NODES) + 1));
  });

  it('of one network on one node is one write of the node, and two of the network: what the nodes report, and what follows', async () => {
    const [red] = networks;
    if (red === undefined) throw new Error('there is no network');
    const failed = await writtenWhile(() => agents.fail(red, 'EINVAL', nodes.slice(0, 1)), 60_000);
    expect(failed).toEqual({ reports: 1, statuses: 2 });
    const healed = await writtenWhile(() => agents.have([red], nodes.slice(0, 1)), 60_000);
    expect(healed).toEqual({ reports: 1, statuses: 2 });
  });

  it('of a network that changes on all nodes all the time is bounded by time, not by nodes', async () => {
    const [red] = networks;
    if (red === undefined) throw new Error('there is no network');
    const seconds = 60;
    const change = async (): Promise<void> => {
      for (let second = 0; second < seconds; second += 2) {
        if (second % 4 === 0) agents.fail(red, `try ${second}`);
        else agents.have([red]);
        await pass(2_000);
      }
    };
    const { reports, statuses } = await writtenWhile(change, 60_000);
    // All agents together 20 times a second, and the last word of each.
    expect(reports).toBeLessThanOrEqual(20 * seconds + NODES);
    // It is ready again at once, and lost again only at its turn: two writes each.
    expect(statuses).toBeLessThanOrEqual((4 * seconds * 1_000) / usageDelayMs(NETWORKS, () => 0));
    expect((await nodesOf('t0'))?.ready).toBe(NODES);
  });

  it('of networks that come together is one write of each node', async () => {
    const more = Array.from({ length: 20 }, (_, i) => `u${i}`);
    for (const name of more) await cluster.create(tenant(name), layer2Udn(`${name}/net`, ['10.2.0.0/16']));
    await cluster.settled();
    const all = await readNetworks();
    const { reports, statuses } = await writtenWhile(() => agents.have(all), SPREAD_MS + 60_000);
    expect(reports).toBe(NODES);
    expect(statuses).toBeLessThanOrEqual(5 * more.length);
    expect((await nodesOf('u7'))?.ready).toBe(NODES);
  });

  it('is nothing when agents or the cluster manager start again', async () => {
    const restarted = await writtenWhile(async () => {
      agents.restart();
      await cluster.stop();
      cluster.start();
      await cluster.settled();
    }, 120_000);
    expect(restarted).toEqual({ reports: 0, statuses: 0 });
    expect(agents.tally.reads).toBe(2 * NODES);
  });
});
