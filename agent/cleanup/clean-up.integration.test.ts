/** `udn-agent cleanup` leaves the node as it was found: dumps of a real kernel and a real Open vSwitch, before and after. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createCommandRunner } from '../../datapath/exec/node-runner.ts';
import { HostBackend } from '../../datapath/host/backend.ts';
import type { HostItem } from '../../datapath/host/types.ts';
import { hostItemKey } from '../../datapath/host/types.ts';
import { route } from '../../datapath/netlink/route/types.ts';
import { createNftables } from '../../datapath/nftables/backend.ts';
import { OpenflowBackend } from '../../datapath/openflow/backend.ts';
import { Ofctl } from '../../datapath/openflow/ofctl.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { commandOf, runProgram } from '../../ovsdb/testing/programs.ts';
import { formatRemote } from '../../ovsdb/wire/remote.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { ensureTree, treeCommand } from '../../sandbox/tree/tree.ts';
import { createDatabases, type Databases } from '../databases/databases.ts';
import { VswitchPortNumbers } from '../databases/port-numbers.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import { COOKIES } from '../model/registry/marks.ts';
import { MANAGEMENT_PORT_TABLE } from '../model/registry/routing.ts';
import { NodeKeeper } from '../node/node-keeper.ts';
import { uplinkEffects } from '../node/uplink/effects.ts';
import { RealNode } from '../node/uplink/real-node.suite.ts';
import type { GatewayOptions } from '../node/uplink/types.ts';
import { Uplink } from '../node/uplink/uplink.ts';
import type { CleanupOptions } from '../options/options.ts';
import type { Backends } from '../reconcile/node-datapath.ts';
import { removeAll } from './clean-up.ts';
import { removeConnectionLimits, removeLeftLimits } from './connection-limits.ts';
import { ledgerPath, rememberingSysctls } from './sysctl-ledger.ts';

let node: RealNode;
let databases: Databases;
let backends: Backends;
let options: CleanupOptions;
const { signal } = new AbortController();
const cluster = parseClusterConfig();
const gateway: GatewayOptions = {
  mode: 'shared',
  interface: undefined,
  nextHops: [],
  vlanId: 0,
  allowNoUplink: false,
};

beforeEach(async () => {
  node = await RealNode.create(['open-vswitch', 'ovn-northbound', 'ovn-southbound']);
  const remote = formatRemote(node.server.remote);
  const folder = node.server.folder;
  options = {
    ovsRemote: remote,
    northboundRemote: remote,
    southboundRemote: remote,
    cniSocket: `${folder}/cni.sock`,
    cniConfFolder: folder,
    cniBinFolder: folder,
    statusSocket: `${folder}/agent.sock`,
    logLevel: 'info',
    cluster,
  };
  databases = createDatabases(options, () => undefined);
  databases.connect();
  await Promise.all([databases.openvswitch.replica.whenSynced(), databases.northbound.replica.whenSynced()]);
  // As ovn-northd does.
  await databases.northbound.session.transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
  backends = await newBackends();
});
afterEach(async () => {
  await Promise.all(Object.values(backends ?? {}).map((backend) => backend.close()));
  await databases?.close();
  await node?.[Symbol.asyncDispose]();
});

const runner = createCommandRunner();

/** The tree's, in the node. */
const nft = async (): Promise<[string, ...string[]]> => {
  const { file, args } = treeCommand(await ensureTree(() => undefined), 'usr/sbin/nft');
  return ['ip', 'netns', 'exec', node.name, file, ...args];
};

const newBackends = async (): Promise<Backends> => ({
  openflow: new OpenflowBackend({
    client: new Ofctl({ runner, runDirectory: node.server.folder, program: await commandOf('ovs-ofctl') }),
    ports: new VswitchPortNumbers(databases.openvswitch.replica),
    cookies: Object.values(COOKIES),
  }),
  host: new HostBackend({
    netlink: rememberingSysctls(node.netlink, ledgerPath(options.statusSocket)),
    ownership: {
      vrfTables: { first: 100_000, last: 104_096 },
      otherTables: [254, MANAGEMENT_PORT_TABLE],
      rulePriorities: [2000],
    },
  }),
  nftables: createNftables({ runner, command: await nft() }),
});

const dump = async (): Promise<unknown> => {
  const [file, ...args] = await nft();
  const bridges = (await node.ovs('list-br')).split('\n').filter((name) => name !== '');
  const flows = await Promise.all(
    bridges.map(async (name) => {
      const text = await runProgram('ovs-ofctl', ['--no-stats', 'dump-flows', `${node.server.folder}/${name}.mgmt`]);
      return text
        .split('\n')
        .filter((line) => line.includes('actions'))
        .sort();
    }),
  );
  const { sysctls } = await node.netlink.read({ sysctls: SYSCTLS });
  return {
    ...node.dump(),
    nft: (await runner.run({ file, args: [...args, 'list', 'ruleset'] })).stdout,
    neighbours: node.ip('neigh show nud permanent'),
    flows,
    sysctls,
    openvswitch: (await node.ovs('--columns=external_ids,other_config', 'list', 'Open_vSwitch')).trim(),
    bridges: (await node.ovs('show')).split('\n').slice(1),
  };
};

const SYSCTLS = [
  'ipv4/conf/eth0/forwarding',
  'ipv4/conf/all/forwarding',
  'ipv4/ip_forward',
  'ipv4/conf/eth0/rp_filter',
];

const addresses = (link: string): void => {
  for (const command of [
    'link set lo up',
    'link set eth0 up',
    `link set ${link} up`,
    `addr add 172.20.0.11/24 brd + dev ${link}`,
    `addr add fd00:172:20::b/64 dev ${link} nodad`,
    `route add default via 172.20.0.1 dev ${link} proto dhcp metric 100`,
    `-6 route add default via fd00:172:20::1 dev ${link}`,
  ]) {
    node.ip(command);
  }
};

/** The gateway bridge as an agent has it, with something of ours in every place. */
const runAgent = async (bridge: string): Promise<void> => {
  const { session, replica } = databases.openvswitch;
  const keeper = new NodeKeeper({
    node: 'n1',
    options: gateway,
    cluster,
    encapIps: [parseIp('172.20.0.11')],
    uplink: new Uplink(
      { options: gateway, masqueradeSubnets: cluster.masqueradeSubnets },
      uplinkEffects({ session, replica, netlink: node.netlink }),
    ),
    netlink: node.netlink,
    session,
    replica,
    nodes: createStaticCache<NodeProjection>([]),
    onRepaired: () => undefined,
    onError: (error) => expect.fail(String(error)),
    later: () => undefined,
  });
  keeper.start();
  try {
    await eventually(() => Promise.resolve(expect(keeper.identity.gateway).toMatchObject({ bridge })));
    await eventually(async () => expect(await node.ovs('list', 'Open_vSwitch')).toContain(`physnet:${bridge}`));
    await eventually(() => Promise.resolve(expect(node.ip('-o link show dev', bridge)).toContain(',UP')));
    await program(bridge);
  } finally {
    await keeper.stop();
  }
};

const program = async (bridge: string): Promise<void> => {
  const host: HostItem[] = [
    { kind: 'address', address: { link: bridge, address: parseInterfaceAddress('169.254.0.2/17') } },
    {
      kind: 'neighbour',
      neighbour: { link: bridge, address: parseIp('169.254.0.4'), mac: parseMac('0a:58:a9:fe:00:04') },
    },
    { kind: 'route', route: route({ dst: parseCidr('172.16.1.0/24'), via: parseIp('169.254.0.4'), dev: bridge }) },
    { kind: 'rule', rule: { family: 4, priority: 2000, fwmark: 0x1001, table: 100_001 } },
    { kind: 'sysctl', sysctl: { key: 'ipv4/conf/eth0/rp_filter', value: '2' } },
  ];
  const flow: BridgeItem = {
    bridge,
    kind: 'flow',
    flow: { table: 0, priority: 0, cookie: COOKIES.default, match: {}, actions: ['NORMAL'] },
  };
  const desired = <Item>(items: readonly Item[], key: (item: Item) => string) =>
    ({ desired: new Map(items.map((item) => [key(item), item])), keys: 'all', prune: true }) as const;
  const done = { failed: new Map() };
  expect(await backends.host.reconcile(desired(host, hostItemKey), signal)).toMatchObject(done);
  expect(await backends.openflow.reconcile(desired([flow], bridgeItemKey), signal)).toMatchObject({
    ...done,
    written: 1,
  });
  const [file, ...args] = await nft();
  await runner.run({ file, args: [...args, 'add table inet ovn-udn'] });
};

const cleanUp = () =>
  removeAll({ options, databases, netlink: node.netlink, backends, log: { info: () => undefined } }, signal);

describe('after cleanup the node is as before the agent', () => {
  it('whose NIC became the port of a new bridge', async () => {
    addresses('eth0');
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const before = await dump();
    await runAgent('breth0');
    expect(await dump()).not.toEqual(before);
    await cleanUp();
    await eventually(() => Promise.resolve(expect(node.ip('-o link')).not.toContain('breth0')));
    expect(await dump()).toEqual(before);
    await cleanUp();
    expect(await dump()).toEqual(before);
  });

  it('whose bridge was there already', async () => {
    await node.ovs(
      ...['add-br', 'br-ex', '--', 'set', 'Bridge', 'br-ex', 'datapath_type=netdev', 'fail_mode=standalone'],
      ...['external_ids:bridge-uplink=eth0', '--', 'add-port', 'br-ex', 'eth0'],
      ...['--', 'set', 'Open_vSwitch', '.', 'external_ids:ovn-bridge-mappings=other:br-other'],
    );
    addresses('br-ex');
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const before = await dump();
    await runAgent('br-ex');
    expect(await dump()).not.toEqual(before);
    await cleanUp();
    expect(await dump()).toEqual(before);
  });
});

describe('limits of connections', () => {
  it('go from Open vSwitch when ovn-controller has forgotten them, and no others', async () => {
    const { northbound, openvswitch } = databases;
    const limited = { options: ['map', [['ct-zone-limit', '5000']]] } as const;
    await northbound.session.transact([
      // As if ovn-controller had answered.
      { op: 'update', table: 'NB_Global', where: [], row: { hv_cfg: 1000 } },
      {
        op: 'insert',
        table: 'Logical_Router',
        row: { name: 'ours', ...limited, external_ids: ['map', [['ovn-udn/key', 'x']]] },
      },
    ]);
    const named = ['left', 'foreign', 'default', 'back', 'marked'];
    const marked = { limit: 5001, external_ids: ['map', [['ovn-udn/zone', 'GR_red_snat']]] } as const;
    await openvswitch.session.transact([
      ...named.map((name, index) => ({
        op: 'insert' as const,
        table: 'CT_Zone',
        'uuid-name': name,
        row: [{ limit: 5000 }, { limit: 5001 }, {}, { limit: 2 ** 32 - 1 }, marked][index] ?? {},
      })),
      {
        op: 'insert',
        table: 'Datapath',
        'uuid-name': 'datapath',
        row: {
          datapath_version: '1',
          ct_zones: ['map', named.map((name, zone) => [zone, ['named-uuid', name]] as const)],
        },
      },
      {
        op: 'mutate',
        table: 'Open_vSwitch',
        where: [],
        mutations: [['datapaths', 'insert', ['map', [['netdev', ['named-uuid', 'datapath']]]]]],
      },
    ]);
    await eventually(() => Promise.resolve(expect([...northbound.replica.rows('Logical_Router')]).toHaveLength(1)));
    await removeLeftLimits(openvswitch.session, await removeConnectionLimits(databases, signal), signal);
    const zones = await node.ovs('--bare', '--columns=limit', 'list', 'CT_Zone');
    expect(zones.split('\n').filter((line) => line !== '')).toEqual(['5001']);
    expect(await node.ovs('--bare', '--columns=ct_zones', 'list', 'Datapath')).toMatch(/^1=\S+ 2=\S+/);
  });
});
