/** An id of a deleted network is nobody's before every node is rid of it, whatever happens to the cluster manager meanwhile. */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { NETWORK_ID_POOLS, NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { KubeClient } from '../../kube/types.ts';
import { formatRanges, rangesOf } from '../../net/id-ranges.ts';
import { createTestCluster, type TestCluster, type TestClusterOptions } from '../testing/harness.ts';
import { layer2Udn, nad, netConf, node, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const poolOf = async () => {
  const [pool] = await cluster.list('NetworkIdPool');
  return pool?.['status'] as { given: string; retirement: number; retired?: { id: number; network?: string }[] };
};

const idsInUse = async (): Promise<Map<string, number>> =>
  new Map(
    (await cluster.list('NetworkAttachmentDefinition')).map(({ metadata: { name, namespace, annotations } }) => [
      `${namespace}/${name}`,
      Number(annotations?.['k8s.ovn.org/network-id']),
    ]),
  );

/** The agent of a node: what it has, and what it has said. */
class Agent {
  readonly name: string;
  ids = new Set<number>();
  isCutOff = false;
  /** Something of the networks is left when they are gone. */
  isStuck = false;

  constructor(name: string) {
    this.name = name;
  }

  async report(): Promise<void> {
    if (this.isCutOff) return;
    // As its mirrors do: what it says of a retirement is not older than that.
    const retirement = (await poolOf())?.retirement ?? 0;
    const desired = new Set((await idsInUse()).values());
    const leaving = this.isStuck ? [...this.ids].filter((id) => !desired.has(id)) : [];
    this.ids = new Set([...desired, ...leaving]);
    await this.publish(retirement, {
      ready: formatRanges(rangesOf(desired)),
      leaving: formatRanges(rangesOf(leaving)),
    });
  }

  async publish(retirement = 0, ids: { ready?: string; leaving?: string } = {}): Promise<void> {
    const uid = (await cluster.get('Node', this.name))?.metadata.uid ?? '';
    const metadata = { name: this.name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: this.name, uid }] };
    const networks = { ready: 0, pending: 0, failed: 0 };
    const lists = { ready: '', pending: '', failed: '', ...ids };
    const status = { rendering: 'Always', retirement, networks, ids: lists };
    const patch = { type: 'apply', fieldManager: 'udn-agent', body: { metadata, status } } as const;
    await cluster.client.patch(NODE_NETWORK_REPORTS, { name: this.name }, patch);
  }
}

const startWith = async (names: readonly string[], options: TestClusterOptions = {}): Promise<Agent[]> => {
  cluster = await createTestCluster(options);
  await cluster.create(tenant('red'), tenant('blue'), tenant('green'), ...names.map((name) => node(name)));
  cluster.start();
  await cluster.settled();
  const agents = names.map((name) => new Agent(name));
  for (const agent of agents) await agent.publish();
  return agents;
};

/** Networks come and go until the id would be somebody's, were it free. */
const expectNeverGiven = async (id: number): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) {
    await cluster.createAndSettle(layer2Udn('green/net', ['10.20.0.0/16']));
    expect([...(await idsInUse()).values()]).not.toContain(id);
    await cluster.deleteAndSettle('UserDefinedNetwork', 'green/net');
  }
};

/** Ids that nobody has, and who may still have them, when there is nothing left to be done. */
const expectHeld = (held: Readonly<Record<string, readonly string[]>>, agents: readonly Agent[] = []): Promise<void> =>
  vi.waitFor(
    async () => {
      await report(agents);
      const record = cluster.manager.state?.registry.ids;
      const found = [...(record?.retired.keys() ?? [])].map((id) => [id, record?.holdersOf(id)]);
      expect(Object.fromEntries(found)).toEqual(held);
      const { retired = [] } = await poolOf();
      expect(retired.map(({ id }) => String(id))).toEqual(Object.keys(held));
    },
    { timeout: 5_000, interval: 5 },
  );

const report = async (agents: readonly Agent[]): Promise<void> => {
  for (const agent of agents) await agent.report();
  await cluster.settled();
};

const restart = async (): Promise<void> => {
  await cluster.stop();
  cluster.start();
  await cluster.settled();
};

const givenAndTakenAway = async (agents: readonly Agent[]): Promise<void> => {
  await cluster.createAndSettle(layer2Udn('red/net', ['10.20.0.0/16']));
  await report(agents);
  expect((await idsInUse()).get('red/net')).toBe(1);
};

describe('the id of a deleted network', () => {
  it('is reserved until every node has seen that it is gone, and free then', async () => {
    const agents = await startWith(['n1', 'n2']);
    await givenAndTakenAway(agents);
    await cluster.delete('UserDefinedNetwork', 'red/net');
    await expectHeld({ 1: ['n1', 'n2'] });
    expect((await poolOf()).retired).toMatchObject([{ id: 1, network: 'red_net', retirement: 1 }]);
    await expectHeld({ 1: ['n2'] }, agents.slice(0, 1));
    await expectHeld({}, agents);
  });

  it('is reserved for a node that is cut off, over restarts, until the node is gone', async () => {
    const agents = await startWith(['n1', 'n2']);
    await givenAndTakenAway(agents);
    await cluster.delete('UserDefinedNetwork', 'red/net');
    await expectHeld({ 1: ['n2'] }, agents.slice(0, 1));
    await restart();
    await vi.waitFor(() => expect(cluster.manager.state?.registry.ids.holdersOf(1)).toEqual(['n2']));
    await expectNeverGiven(1);
    await cluster.delete('Node', 'n2');
    await expectHeld({}, agents.slice(0, 1));
  });

  it('costs no write at a start that finds the pool as desired', async () => {
    let writes = 0;
    const wire = (client: KubeClient): KubeClient => ({
      ...client,
      update: (resource, ...rest) => {
        if (resource === NETWORK_ID_POOLS) writes += 1;
        return client.update(resource, ...rest);
      },
    });
    const agents = await startWith(['n1'], { wire });
    await givenAndTakenAway(agents);
    await restart(); // The ids that were granted ahead are nobody's now.
    await expectHeld({}, agents);
    writes = 0;
    await restart();
    expect(writes).toBe(0);
    await cluster.createAndSettle(layer2Udn('blue/net', ['10.20.0.0/16']));
    expect(writes).toBeGreaterThan(0);
  });

  it('is reserved for a node that was cut off before it said that it has it, also when no manager saw the network go', async () => {
    const agents = await startWith(['n1', 'n2']);
    await cluster.create(nad('red/hand', netConf('red/hand', 'hand', { role: 'secondary' })));
    await vi.waitFor(async () => expect((await idsInUse()).get('red/hand')).toBe(1));
    await cluster.stop();
    await cluster.delete('NetworkAttachmentDefinition', 'red/hand');
    cluster.start();
    await vi.waitFor(async () => {
      await report(agents.slice(0, 1));
      expect(cluster.manager.state?.registry.ids.holdersOf(1)).toEqual(['n2']);
    });
    await expectHeld({}, agents);
  });

  it('is reserved while a node says that something of it is left', async () => {
    const agents = await startWith(['n1']);
    await givenAndTakenAway(agents);
    for (const agent of agents) agent.isStuck = true;
    await cluster.delete('UserDefinedNetwork', 'red/net');
    await expectHeld({ 1: ['n1'] }, agents);
    for (const agent of agents) agent.isStuck = false;
    await expectHeld({}, agents);
  });

  it('waits for no node that has never had an agent', async () => {
    await startWith([]);
    await cluster.createAndSettle(node('n1'), layer2Udn('red/net', ['10.20.0.0/16']));
    await cluster.delete('UserDefinedNetwork', 'red/net');
    await expectHeld({});
  });
});

it('a node that keeps ids for long gets an event, and another when it does not', async () => {
  const clock = createFakeClock();
  const agents = await startWith(['n1'], { clock });
  const settle = async (milliseconds = 5_000): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) {
      await cluster.settled();
      await clock.advance(milliseconds / 5);
    }
    await cluster.settled();
  };
  await cluster.create(layer2Udn('red/net', ['10.20.0.0/16']));
  await settle();
  await agents[0]?.report();
  await cluster.delete('UserDefinedNetwork', 'red/net');
  await settle();
  const reportedEvents = () => cluster.events.filter(({ reason }) => reason === 'NetworkIdsReserved');
  expect(reportedEvents()).toEqual([]);
  await settle(130_000);
  expect(reportedEvents()).toMatchObject([
    {
      regarding: { kind: 'Node', name: 'n1' },
      message: expect.stringMatching(/reports their removal: 1 \(red_net\)$/),
    },
  ]);
});

it('when there is no id left, the network says which nodes hold those of deleted ones', async () => {
  const agents = await startWith(['n1']);
  const { registry } = cluster.manager.state ?? {};
  for (const agent of agents) await agent.publish();
  // As after 4,094 networks.
  registry?.ids.suspectAll(0);
  await cluster.createAndSettle(layer2Udn('red/net', ['10.20.0.0/16']));
  const conditions = (await cluster.get('UserDefinedNetwork', 'red/net'))?.['status'] as {
    conditions: { message: string }[];
  };
  expect(conditions.conditions.map(({ message }) => message).join()).toContain(
    'all ids from 1 to 4095 are in use, 4095 of them on nodes that have not reported the removal of a deleted network: network id 1 of a deleted network is',
  );
});

it('a record that somebody deletes makes the next manager wait for all nodes', async () => {
  const agents = await startWith(['n1']);
  await givenAndTakenAway(agents);
  await cluster.deleteAndSettle('UserDefinedNetwork', 'red/net');
  await expectHeld({}, agents);
  await cluster.stop();
  await cluster.client.delete(NETWORK_ID_POOLS, { name: 'cluster' });
  cluster.start();
  await vi.waitFor(() => expect(cluster.manager.state?.registry.ids.retired.size).toBe(4095));
  await expectHeld({}, agents);
});

/** What is free of the first two is preferred, so that they are used again and again. */
const FEW_IDS = parseClusterConfig({ masqueradeSubnets: '169.254.0.0/28,fd69::/124' });

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('replace' as const), ns: fc.constantFrom('red', 'blue') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), ns: fc.constantFrom('red', 'blue') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('cut off' as const), agent: fc.nat(1), isCutOff: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stick' as const), agent: fc.nat(1), isStuck: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('report' as const), agent: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

it('whatever happens in whatever order, no network gets an id that a node has of another one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50, size: 'max' }), async (steps) => {
      const agents = await startWith(['n1', 'n2'], { config: FEW_IDS });
      /** Whose an id was when a node took it. */
      const has = agents.map(() => new Map<number, string>());
      const look = async (): Promise<void> => {
        const uids = new Map(
          (await cluster.list('NetworkAttachmentDefinition')).map(({ metadata }) => [
            Number(metadata.annotations?.['k8s.ovn.org/network-id']),
            metadata.uid,
          ]),
        );
        for (const [index, agent] of agents.entries()) {
          const mine = has[index] ?? new Map<number, string>();
          for (const [id, uid] of mine) expect(uids.get(id) ?? uid, `id ${id} of ${agent.name}`).toBe(uid);
          if (agent.isCutOff) continue;
          // It programs what it sees at once, and reports later, or never.
          for (const [id, uid] of uids) if (id > 0) mine.set(id, uid);
          if (!agent.isStuck) for (const id of mine.keys()) if (!uids.has(id)) mine.delete(id);
          agent.ids = new Set(mine.keys());
        }
      };
      for (const one of steps) {
        if (one.kind === 'replace') {
          await cluster.delete('UserDefinedNetwork', `${one.ns}/net`).catch(() => {});
          await cluster.settled();
          await cluster.create(layer2Udn(`${one.ns}/net`, ['10.20.0.0/16'])).catch(() => {});
        } else if (one.kind === 'delete') await cluster.delete('UserDefinedNetwork', `${one.ns}/net`).catch(() => {});
        else if (one.kind === 'cut off') Object.assign(agents[one.agent] ?? {}, { isCutOff: one.isCutOff });
        else if (one.kind === 'stick') Object.assign(agents[one.agent] ?? {}, { isStuck: one.isStuck });
        else if (one.kind === 'report') await agents[one.agent]?.report();
        else if (one.kind === 'restart') {
          await cluster.stop();
          cluster.start();
        }
        if (one.kind !== 'restart') await cluster.settled();
        await look();
      }
      await cluster.close();
    }),
    { numRuns: 8 },
  );
}, 120_000);
