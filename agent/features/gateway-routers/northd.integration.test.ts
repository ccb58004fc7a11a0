/** The rows of the worked networks in a real northbound database, read by a real ovn-northd. */
import { describe, expect, it } from 'vitest';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import type { Operation } from '../../../ovsdb/transact/operation.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { Database } from '../../databases/database.ts';
import { createNorthboundReplica, NORTHBOUND_CLAIMS, type NorthboundReplica } from '../../databases/northbound.ts';
import type { TestCluster } from '../../testing/cluster.ts';
import { type OvnZone, startOvnZone } from '../../testing/ovn-zone.ts';
import { WORKED_FAMILIES, WORKED_NETWORKS, workedCluster } from '../../testing/worked-networks.ts';

type Northbound = Database<OvnNorthbound, NorthboundReplica>;

const INPUTS = WORKED_NETWORKS.flatMap((network) =>
  (['shared', 'local'] as const).flatMap((mode) => WORKED_FAMILIES.map((families) => ({ network, mode, families }))),
);

interface World extends AsyncDisposable {
  readonly zone: OvnZone;
  readonly database: Northbound;
}

const start = async (): Promise<World> => {
  await using resources = new AsyncDisposableStack();
  const zone = resources.use(
    await startOvnZone(['node1', 'node2', 'test-node', 'other-node'].map((node) => `chassis-${node}`)),
  );
  const { database } = resources.use(openDatabase(zone));
  await database.replica.whenSynced(AbortSignal.timeout(30_000));
  const owner = resources.move();
  return { zone, database, [Symbol.asyncDispose]: () => owner.disposeAsync() };
};

/** As an agent has it. */
const openDatabase = (zone: OvnZone): AsyncDisposable & { readonly database: Northbound } => {
  const database: Northbound = new Database({
    name: 'northbound',
    remote: zone.northboundRemote,
    replica: createNorthboundReplica(),
    claimed: NORTHBOUND_CLAIMS,
    observe: () => {},
  });
  database.connect();
  return { database, [Symbol.asyncDispose]: () => database.close() };
};

/** Everything that the cluster's agent wants is in the database, and northd has seen it. */
const apply = async (world: World, cluster: TestCluster): Promise<void> => {
  cluster.render();
  for (const [owner, fragment] of cluster.sinks.northbound.fragments) world.database.desired.set(owner, fragment);
  world.database.reconcile();
  // NB_Global, which is not ours, is made by northd.
  const owners = [...cluster.sinks.northbound.fragments.keys()];
  await Promise.all(owners.map((owner) => world.database.reconciler.whenDone(owner, AbortSignal.timeout(30_000))));
  await settle(world);
};

const settle = async ({ zone, database }: World): Promise<void> => {
  await database.reconciler.whenIdle(AbortSignal.timeout(30_000));
  expect(database.reconciler.problems()).toEqual([]);
  await zone.computed(database.session);
};

const withdraw = async (world: World, cluster: TestCluster): Promise<void> => {
  for (const owner of cluster.sinks.northbound.fragments.keys()) world.database.desired.delete(owner);
  await settle(world);
};

/** By table, but of the only row that is not ours. */
const rowCounts = ({ replica }: Northbound): Record<string, number> =>
  Object.fromEntries(
    replica.store.tableNames
      .filter((table) => table !== 'NB_Global')
      .map((table) => [table, [...replica.store.rows(table)].length] as const)
      .filter(([, count]) => count > 0),
  );

const warnings = ({ log }: OvnZone): string[] => log.filter((line) => /\|(WARN|ERR|EMER)\|/.test(line));

describe('ovn-northd', () => {
  it.each(INPUTS)('takes the rows of a $network network in $mode gateway mode, $families', async (input) => {
    await using world = await start();
    const cluster = workedCluster(input);
    await apply(world, cluster);
    expect(rowCounts(world.database)['Logical_Router']).toBeGreaterThanOrEqual(2);
    expect(warnings(world.zone)).toEqual([]);
    await withdraw(world, cluster);
    expect(rowCounts(world.database)).toEqual({});
  });
});

interface Walk {
  readonly network: 'layer2' | 'layer3';
  readonly mode: 'shared' | 'local';
  readonly family: 4 | 6;
}

const SWITCHES = { layer2: 'isolatednet_ovn_layer2_switch', layer3: 'isolatednet_test-node' } as const;
const GATEWAYS = {
  layer2: { mac: '0a:58:64:c8:00:01', pod4: '100.200.0.9', pod6: '2014:100:200::9' },
  layer3: { mac: '0a:58:c0:a8:01:01', pod4: '192.168.1.9', pod6: 'fd00:192:168:1::9' },
} as const;
const WALKS: readonly Walk[] = (['layer3', 'layer2'] as const).flatMap((network) =>
  (['shared', 'local'] as const).flatMap((mode) => ([4, 6] as const).map((family) => ({ network, mode, family }))),
);

/** What a pod sends: the ports that the packet leaves a switch or router by, and the source addresses that it gets. */
const walk = async (zone: OvnZone, { network, family }: Walk, destination: string): Promise<string[]> => {
  const { mac, pod4, pod6 } = GATEWAYS[network];
  const flow = [
    'inport == "k8s-isolatednet_test-node"',
    `eth.src == 0a:58:00:00:00:09 && eth.dst == ${mac}`,
    `ip${family}.src == ${family === 4 ? pod4 : pod6} && ip${family}.dst == ${destination}`,
    'ip.ttl == 64 && tcp.dst == 80',
  ].join(' && ');
  const lines = await zone.trace(SWITCHES[network], flow);
  return lines.flatMap((line) => {
    const [, port] = /output to "([^"]+)"/.exec(line) ?? [];
    const [, source] = /^ct_snat\(([0-9a-f.:]+)\);/.exec(line) ?? [];
    return port ?? (source === undefined ? [] : `as ${source}`);
  });
};

const startWith = async (input: Walk): Promise<World> => {
  const world = await start();
  await apply(world, workedCluster({ ...input, families: 'dual' }));
  const { session } = world.database;
  // The neighbours that would answer: nothing of ours, and not to be touched.
  await session.transact(
    ['192.168.126.1', 'fd00:126::1'].map((ip) => ({
      op: 'insert',
      table: 'Static_MAC_Binding',
      row: { logical_port: ROUTER_PORT, ip, mac: '02:00:00:00:00:77', override_dynamic_mac: true },
    })),
  );
  await world.zone.computed(session);
  return world;
};

const ROUTER_PORT = 'rtoe-GR_isolatednet_test-node';
const MANAGEMENT_PORT = 'k8s-isolatednet_test-node';

describe('a packet of a pod, on ovn-trace', () => {
  it.each(WALKS)('to the outside, $network, $mode mode, IPv$family', async (input) => {
    await using world = await startWith(input);
    const path = await walk(world.zone, input, input.family === 4 ? '8.8.8.8' : '2001:db8::8');
    if (input.mode === 'local') {
      expect(path).toContain(input.family === 4 ? 'as 169.254.169.14' : 'as fd69::e');
      expect(path.at(-1)).toBe(MANAGEMENT_PORT);
    } else {
      expect(path).toContain(input.family === 4 ? 'as 169.254.169.13' : 'as fd69::d');
      expect(path.at(-1)).toBe('breth0_isolatednet_test-node');
    }
  });

  it.each(WALKS)('to an address of its node, $network, $mode mode, IPv$family', async (input) => {
    await using world = await startWith(input);
    const path = await walk(world.zone, input, input.family === 4 ? '192.168.126.202' : 'fd00:126::ca');
    expect(path).toContain(input.family === 4 ? 'as 169.254.169.14' : 'as fd69::e');
    expect(path.at(-1)).toBe(MANAGEMENT_PORT);
    expect(path).not.toContain(ROUTER_PORT);
  });

  it('to a pod of another node goes to that node untranslated, not to a gateway', async () => {
    const input = { network: 'layer3', mode: 'shared', family: 4 } as const;
    await using world = await startWith(input);
    const path = await walk(world.zone, input, '192.168.2.9');
    expect(path.at(-1)).toBe('isolatednet_tstor-other-node');
    expect(path.filter((step) => step.startsWith('as '))).toEqual([]);
  });
});

describe('what an earlier run has left', () => {
  it('goes, also where rows carry no mark; what others have put there stays', async () => {
    await using world = await start();
    const { database } = world;
    await apply(world, workedCluster({ network: 'layer3', mode: 'shared', families: 'ipv4' }));
    const bindings = (): string[] =>
      [...database.replica.rows('Static_MAC_Binding')].map(({ logical_port: port, ip }) => `${port} ${ip}`).sort();
    expect(bindings()).toEqual([`${ROUTER_PORT} 169.254.169.2`, `${ROUTER_PORT} 169.254.169.4`]);
    await database.session.transact([
      {
        op: 'insert',
        table: 'Static_MAC_Binding',
        row: { logical_port: ROUTER_PORT, ip: '192.168.126.1', mac: '02:00:00:00:00:77', override_dynamic_mac: true },
      },
    ]);
    await database.close();
    await using next = openDatabase(world.zone);
    await next.database.replica.whenSynced(AbortSignal.timeout(30_000));
    next.database.reconcile();
    await settle({ ...world, database: next.database });
    expect([...next.database.replica.rows('Logical_Router')]).toEqual([]);
    expect([...next.database.replica.rows('Static_MAC_Binding')].map(({ ip }) => ip)).toEqual(['192.168.126.1']);
  });
});

/** All rows of the tables that gateways are made of, without what northd adds. */
const contents = ({ database: { replica } }: World): string[] =>
  (
    ['Logical_Router', 'Logical_Router_Port', 'Logical_Router_Static_Route', 'Logical_Router_Policy', 'NAT'] as const
  ).flatMap((table) => [...replica.rows(table)].map(({ _uuid, ...row }) => JSON.stringify(withoutUuids(table, row))));

const withoutUuids = (table: string, row: object): object => {
  const references = ['ports', 'nat', 'policies', 'static_routes', 'gateway_chassis', 'copp'];
  const entries = Object.entries(row).map(([column, value]) => {
    if (references.includes(column)) return [column, Array.isArray(value) ? value.length : typeof value];
    return [column, typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : value];
  });
  return { table, ...Object.fromEntries(entries) };
};

const DRIFTS: readonly { readonly what: string; readonly operations: readonly Operation[] }[] = [
  {
    what: 'MAC bindings are deleted',
    operations: [{ op: 'delete', table: 'Static_MAC_Binding', where: [] }],
  },
  {
    what: 'a MAC binding has another MAC',
    operations: [{ op: 'update', table: 'Static_MAC_Binding', where: [], row: { mac: '02:00:00:00:00:99' } }],
  },
  {
    what: 'translations are to another address, under another condition',
    operations: [{ op: 'update', table: 'NAT', where: [], row: { external_ip: '192.0.2.99', match: 'ip.ttl == 7' } }],
  },
  {
    what: 'routers have lost their translations, policies and routes',
    operations: [
      {
        op: 'update',
        table: 'Logical_Router',
        where: [],
        row: { nat: ['set', []], policies: ['set', []], static_routes: ['set', []] },
      },
    ],
  },
  {
    what: 'routes lead elsewhere',
    operations: [
      {
        op: 'update',
        table: 'Logical_Router_Static_Route',
        where: [],
        row: { nexthop: '100.65.9.9', policy: 'src-ip', output_port: ['set', []] },
      },
    ],
  },
  {
    what: 'policies do something else',
    operations: [
      { op: 'update', table: 'Logical_Router_Policy', where: [], row: { action: 'drop', nexthops: ['set', []] } },
    ],
  },
  {
    what: 'ports have other addresses and MACs',
    operations: [
      {
        op: 'update',
        table: 'Logical_Router_Port',
        where: [],
        row: { mac: '02:00:00:00:00:99', networks: '198.51.100.1/24', options: ['map', []] },
      },
    ],
  },
  { what: 'routers are deleted', operations: [{ op: 'delete', table: 'Logical_Router', where: [] }] },
];

it.each(DRIFTS)('when $what, all is as before', async ({ operations }) => {
  await using world = await start();
  await apply(world, workedCluster({ network: 'layer2', mode: 'shared', families: 'dual' }));
  const { replica, session } = world.database;
  const bindings = () => [...replica.rows('Static_MAC_Binding')].map(({ ip, mac }) => `${ip} ${mac}`).sort();
  const before = { rows: contents(world).sort(), bindings: bindings() };
  expect(before.bindings).toHaveLength(4);
  const [result] = await session.transact(operations);
  expect(result?.count).toBeGreaterThan(1);
  await settle(world);
  await eventually(async () => expect({ rows: contents(world).sort(), bindings: bindings() }).toEqual(before));
});
