/** How often the northbound database is written for a network, as another client of a real ovsdb-server sees it (ADR 36). */
import { expect, it } from 'vitest';
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import { formatRemote } from '../../ovsdb/wire/remote.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { DenyGroupFact } from '../model/policies/facts.ts';
import { denyGroupId, denyGroupName, subjectSetName, targetSetName } from '../model/policies/ids.ts';
import { TestCluster } from '../testing/cluster.ts';
import { Database } from './database.ts';
import { createNorthboundReplica, NORTHBOUND_CLAIMS, type NorthboundReplica } from './northbound.ts';

type Northbound = Database<OvnNorthbound, NorthboundReplica>;

const TOPOLOGIES = ['layer3', 'layer2'] as const;
const SETTLE_MS = 30_000;

const emptyCluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, transit: ['100.88.0.2/16'], subnets: { default: ['10.128.0.0/23'] } })
    .node('node2', {
      id: 3,
      transit: ['100.88.0.3/16'],
      subnets: { default: ['10.128.2.0/23'] },
      encapIps: ['172.16.16.3'],
    })
    .gateway('node1', { addresses: ['172.16.16.2/24'], nextHops: ['172.16.16.1'] });

/** What the API says of a network, event by event: its id and ranges, then the subnets of nodes. */
const events = (cluster: TestCluster, topology: 'layer2' | 'layer3', id: number): readonly (() => void)[] => {
  const name = `net${id}`;
  const network = () =>
    cluster.network(name, {
      ...{ id, topology, subnets: [`10.${id}.0.0/16`], namespace: name, nad: 'net' },
      ...(topology === 'layer2' && { tunnelKeys: [16_711_685 + 2 * id, 16_711_686 + 2 * id] }),
    });
  const subnets = ['node1', 'node2'].map(
    (node, index) => () => cluster.subnets(node, name, [`10.${id}.${index}.0/24`]),
  );
  return topology === 'layer2' ? [network] : [network, ...subnets];
};

const open = (remote: string): Northbound => {
  const database: Northbound = new Database({
    name: 'northbound',
    remote,
    replica: createNorthboundReplica(),
    claimed: NORTHBOUND_CLAIMS,
    observe: () => {},
  });
  database.connect();
  return database;
};

/** The agent's database, and how many transactions another client was notified of. */
const start = async (resources: AsyncDisposableStack) => {
  const server = resources.use(await TestServer.create(['ovn-northbound']));
  const remote = formatRemote(server.remote);
  const [database, other] = [open(remote), open(remote)];
  for (const one of [database, other]) resources.defer(() => one.close());
  await Promise.all([database, other].map(({ replica }) => replica.whenSynced(AbortSignal.timeout(SETTLE_MS))));
  // As ovn-northd does.
  await database.session.transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
  let reported = 0;
  other.replica.onUpdate(() => {
    reported += 1;
  });
  return { database, other, reported: () => reported };
};

/** Has the database get what the cluster's agent wants now. */
const follower = (cluster: TestCluster, { desired, reconciler }: Northbound) => {
  let known: ReadonlyMap<string, DesiredFragment<OvnNorthbound>> = new Map();
  return async (): Promise<void> => {
    cluster.render();
    const { fragments } = cluster.sinks.northbound;
    for (const owner of known.keys()) if (!fragments.has(owner)) desired.delete(owner);
    for (const [owner, fragment] of fragments) if (known.get(owner) !== fragment) desired.set(owner, fragment);
    known = new Map(fragments);
    await reconciler.whenIdle(AbortSignal.timeout(SETTLE_MS));
  };
};

it.each(TOPOLOGIES)('a new %s network is one northbound transaction, and so is its end', async (topology) => {
  await using resources = new AsyncDisposableStack();
  const { database, other, reported } = await start(resources);
  const cluster = emptyCluster();
  const follow = follower(cluster, database);
  for (const event of events(cluster, topology, 7)) event();
  await follow();
  database.reconcile();
  await follow();
  await untilSame(other, database);
  const [before, rows] = [reported(), rowsOf(database)];
  for (const event of events(cluster, topology, 8)) event();
  await follow();
  await untilSame(other, database);
  expect(rowsOf(database)).toBeGreaterThan(rows + 10);
  expect(reported() - before).toBe(1);
  cluster.facts.set('network', 'net8', undefined);
  await follow();
  await untilSame(other, database);
  expect([rowsOf(database), reported() - before]).toEqual([rows, 2]);
});

it('of a layer-3 network the rows of this node are one transaction, whenever the API delivers its parts', async () => {
  await using resources = new AsyncDisposableStack();
  const { database, other, reported } = await start(resources);
  const cluster = emptyCluster();
  const follow = follower(cluster, database);
  database.reconcile();
  await follow();
  await untilSame(other, database);
  const counts: number[] = [];
  for (const event of events(cluster, 'layer3', 8)) {
    const before = reported();
    event();
    await follow();
    await untilSame(other, database);
    counts.push(reported() - before);
  }
  // Nothing before this node has its subnet, all of it with that, and one for the other node.
  expect(counts).toEqual([0, 1, 1]);
});

it('a new pod is in its deny group and a target of its rules by the transaction that makes its port', async () => {
  await using resources = new AsyncDisposableStack();
  const { database, other, reported } = await start(resources);
  const cluster = emptyCluster();
  const follow = follower(cluster, database);
  database.reconcile();
  await follow();
  const half: string[] = [];
  const group = denyGroupName(denyGroupId({ network: 'default' }), 'Ingress');
  other.replica.onUpdate(() => half.push(...openPorts(other, group)));
  // The group itself is new, then it is there, then there is more to do than one transaction takes.
  isolatedPods(cluster, 3, 1);
  await follow();
  isolatedPods(cluster, 4, 1);
  await follow();
  await untilSame(other, database);
  const before = reported();
  isolatedPods(cluster, 5, 1_500);
  await follow();
  await untilSame(other, database);
  expect(reported() - before).toBeGreaterThan(1);
  // Another group that logs what is dropped, for all of them.
  isolatedPods(cluster, 3, 1_502, { namespace: 'ns', severity: 'info' });
  await follow();
  await untilSame(other, database);
  expect(half).toEqual([]);
  const targets = [...other.replica.rows('Address_Set')].find(({ name }) => name === targetSetName('r'));
  expect(targets?.addresses).toHaveLength(1_502);
});

const isolatedPods = (cluster: TestCluster, from: number, count: number, log?: DenyGroupFact['log']): void => {
  const { facts } = cluster;
  const group: DenyGroupFact = { network: 'default', ...(log !== undefined && { log }) };
  const denyGroup = denyGroupId(group);
  if (log !== undefined) facts.set('denyGroup', denyGroupId({ network: 'default' }), undefined);
  facts.set('denyGroup', denyGroup, group);
  const rule = { direction: 'Ingress', family: 4, peers: { kind: 'any' } } as const;
  facts.set('policyRule', 'r', { network: 'default', ...rule });
  for (let number = from; number < from + count; number++) {
    const ip = `10.128.${number >> 8}.${number & 255}/23`;
    const pod = `ns/p${number}`;
    facts.set('podPolicy', pod, { network: 'default', isolated: ['Ingress'], denyGroup, rules: ['r'] });
    cluster.pod(pod, { node: 'node1', networks: { default: { ips: [ip], role: 'primary' } } });
  }
};

it('a new pod is a subject of administrators’ policies by the transaction that makes its port, and their rules are there', async () => {
  await using resources = new AsyncDisposableStack();
  const { database, other } = await start(resources);
  const cluster = emptyCluster();
  const follow = follower(cluster, database);
  database.reconcile();
  await follow();
  const half: string[] = [];
  other.replica.onUpdate(() => half.push(...withoutRules(other)));
  // The policy itself is new, then it is there, then there is more to do than one transaction takes.
  for (const [from, count] of [
    [3, 1],
    [4, 1],
    [5, 1_200],
  ] as const) {
    subjects(cluster, from, count);
    await follow();
  }
  await untilSame(other, database);
  expect(half).toEqual([]);
  const set = [...other.replica.rows('Address_Set')].find(({ name }) => name === subjectSetName('s', 4));
  expect(set?.addresses).toHaveLength(1_202);
  expect(withoutRules(other)).toEqual([]);
});

const subjects = (cluster: TestCluster, from: number, count: number): void => {
  const { facts } = cluster;
  const [network, policy] = ['default', 'AdminNetworkPolicy/a'];
  const rules = Array.from({ length: 50 }, (_, index) => `r${index}`);
  for (const [index, rule] of rules.entries()) {
    facts.set('adminRule', rule, {
      ...{ network, policy, direction: 'Egress', family: 4, tier: 'admin', priority: 32_000 - index, action: 'deny' },
      ...{ subjects: 's', peers: { kind: 'any' } },
    });
  }
  facts.set('subjectSet', 's', { network, policy, tier: 'admin', drops: rules });
  for (let number = from; number < from + count; number++) {
    const ip = `10.128.${number >> 8}.${number & 255}/23`;
    const pod = `ns/p${number}`;
    facts.set('podPolicy', pod, { network, isolated: [], denyGroup: '', rules: [], subjects: ['s'] });
    cluster.pod(pod, { node: 'node1', networks: { default: { ips: [ip], role: 'primary' } } });
  }
};

/** Ports whose pods rules drop something of, that are not in the set of these, or there before all rules. */
const withoutRules = ({ replica }: Northbound): string[] => {
  const sets = [...replica.rows('Address_Set')];
  const members = new Set(sets.find(({ name }) => name === subjectSetName('s', 4))?.addresses);
  const acls = new Set([...replica.rows('Logical_Switch')].flatMap((row) => row.acls));
  const drops = [...replica.rows('ACL')].filter(({ _uuid, tier }) => tier === 1 && acls.has(_uuid)).length;
  return [...replica.rows('Logical_Switch_Port')]
    .filter(({ name }) => name.startsWith('ns_'))
    .filter(({ addresses }) => drops < 50 || !members.has(addresses[0]?.split(' ')[1] ?? ''))
    .map(({ name }) => name);
};

/** Ports that can be reached although a policy selects their pods, or not although a rule allows it. */
const openPorts = ({ replica }: Northbound, group: string): string[] => {
  const inGroup = new Set([...replica.rows('Port_Group')].find(({ name }) => name === group)?.ports);
  const targets = new Set([...replica.rows('Address_Set')].find(({ name }) => name === targetSetName('r'))?.addresses);
  return [...replica.rows('Logical_Switch_Port')]
    .filter(({ name }) => name.startsWith('ns_'))
    .filter(({ _uuid, addresses }) => !inGroup.has(_uuid) || !targets.has(addresses[0]?.split(' ')[1] ?? ''))
    .map(({ name }) => name);
};

const rowsOf = ({ replica }: Northbound): number =>
  replica.store.tableNames.reduce((sum, table) => sum + [...replica.store.rows(table)].length, 0);

/** The other client has got every update. */
const untilSame = (other: Northbound, database: Northbound): Promise<void> =>
  eventually(() => Promise.resolve(expect(rowsOf(other)).toBe(rowsOf(database))), SETTLE_MS);
