/** What the backend promises, on the fake and on the real kernel. */
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import type { Harness } from '../netlink/harness.suite.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import { route } from '../netlink/route/types.ts';
import {
  address,
  attacks,
  bridgeItems,
  bridgeOps,
  link,
  neighbour,
  networkItems,
  noPort,
  PORT,
  portItems,
  portOps,
  routeAttacks,
  routeTo,
  rule,
  set,
  TABLE,
  VRF,
} from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import { hostItemKey } from './types.ts';
import { vrfRule } from './vrf-rules.ts';

export const hostBackendSuite = (name: string, open: () => Promise<Harness>): void => {
  describe(`the host's network stack (${name})`, () => {
    let harness: Harness;
    let keeper: HostKeeper;
    const others = async (...ops: readonly KernelOp[]): Promise<void> => {
      const failures = await harness.netlink.apply({ ops });
      expect(failures.map(({ error }) => error.message)).toEqual([]);
    };
    beforeEach(async () => {
      harness = await open();
      keeper = new HostKeeper(harness.netlink);
      await others(...bridgeOps, ...portOps);
    });
    afterEach(async () => {
      await keeper.backend.close();
      await harness[Symbol.asyncDispose]();
    });
    const world = { harness: () => harness, keeper: () => keeper, others };
    plainCases(world);
    failureCases(world);
    driftCases(world);
    ownershipCases(world);
    vrfCases(world);
    vrfRemovalCases(world);
  });
};

interface BackendWorld {
  readonly harness: () => Harness;
  readonly keeper: () => HostKeeper;
  readonly others: (...ops: readonly KernelOp[]) => Promise<void>;
}

const plainItems = [...bridgeItems, ...portItems(254)];

/** Events that the kernel sends only later have settled, too. */
const atRest = (keeper: HostKeeper): Promise<void> =>
  vi.waitFor(
    async () => {
      await keeper.settle();
      expect(await keeper.differences()).toEqual([]);
    },
    { timeout: 30_000 },
  );

const plainCases = ({ keeper, others }: BackendWorld): void => {
  it('brings everything about, and then has nothing to do', async () => {
    expect(
      (
        await keeper()
          .want(...plainItems)
          .full()
      ).failed,
    ).toEqual(new Map());
    expect(await keeper().differences()).toEqual([]);
    await atRest(keeper());
    expect(await keeper().full()).toEqual({
      written: 0,
      writtenKeys: new Set(),
      failed: new Map(),
      waiting: new Map(),
    });
    expect(keeper().drift()).toEqual([]);
  });

  it('has nothing to do after a restart', async () => {
    keeper().want(...plainItems);
    await atRest(keeper());
    const next = new HostKeeper(keeper().netlink);
    expect(await next.want(...plainItems).full()).toEqual({
      written: 0,
      writtenKeys: new Set(),
      failed: new Map(),
      waiting: new Map(),
    });
    await next.backend.close();
  });

  it('waits for links, and goes on when they come, each time', async () => {
    await others(noPort);
    const { waiting, failed } = await keeper()
      .want(...plainItems)
      .full();
    expect(failed).toEqual(new Map());
    expect(new Set(waiting.keys())).toEqual(new Set(portItems(254).map(hostItemKey)));
    expect(waiting.get(`link ${PORT}`)).toBe(`link ${PORT} does not exist`);
    await others(...portOps);
    await atRest(keeper());
    await others(noPort, ...portOps);
    await atRest(keeper());
  });

  it('removes what is no longer desired, and nothing else', async () => {
    keeper().want(...plainItems);
    await atRest(keeper());
    keeper().unwant(...bridgeItems.filter(({ kind }) => kind !== 'link'));
    await atRest(keeper());
    const { addresses, rules, neighbours } = await keeper().netlink.read({
      addresses: true,
      rules: true,
      neighbours: true,
    });
    const onBridge = addresses.filter(({ link: on, scope }) => on === 'br-ex' && scope === 'global');
    expect(onBridge.map((one) => one.address).sort()).toEqual(['172.18.0.2/16', 'fd12::2/64']);
    expect(rules.filter(({ protocol }) => protocol === 85)).toEqual([]);
    expect(neighbours.filter(({ link: on, permanent }) => permanent && on === 'br-ex')).toEqual([]);
    expect((await keeper().full()).written).toBe(0);
  });
};

const failureCases = ({ keeper, others }: BackendWorld): void => {
  it('stops at nothing when one thing fails', async () => {
    const bad = routeTo('10.7.0.0/16', { dev: 'br-ex', via: parseIp('10.77.0.1') });
    const wrong = rule({ to: '10.0.0.1' });
    const { failed } = await keeper()
      .want(bad, wrong, ...plainItems)
      .full();
    expect([...failed.keys()]).toEqual([hostItemKey(wrong), hostItemKey(bad)]);
    expect(failed.get(hostItemKey(wrong))).toBe('10.0.0.1 is no prefix');
    await vi.waitFor(async () =>
      expect(await keeper().differences()).toEqual([`missing ${hostItemKey(bad)}`, `missing ${hostItemKey(wrong)}`]),
    );
    // What made it impossible may change.
    await others({ op: 'address.put', address: { link: 'br-ex', address: parseInterfaceAddress('10.77.0.5/24') } });
    await vi.waitFor(async () => {
      await keeper().settle();
      expect(await keeper().differences()).toEqual([`missing ${hostItemKey(wrong)}`]);
    });
  });

  it('gives an address another prefix length', async () => {
    keeper().want(link(PORT), address(PORT, '100.128.0.2/24'), address(PORT, 'fd80::2/64', { noDad: true }));
    await atRest(keeper());
    keeper().unwant(address(PORT, '100.128.0.2/24'), address(PORT, 'fd80::2/64'));
    keeper().want(address(PORT, '100.128.0.2/16'), address(PORT, 'fd80::2/48', { noDad: true }));
    await atRest(keeper());
  });
};

const driftCases = ({ keeper, others }: BackendWorld): void => {
  it.each([...attacks, ...routeAttacks(254)])('repairs it when somebody %s', async (_, attack) => {
    keeper().want(...plainItems);
    await atRest(keeper());
    keeper().reported.length = 0;
    await others(attack);
    await vi.waitFor(() => expect(keeper().drift().length).toBeGreaterThan(0), { timeout: 30_000 });
    await atRest(keeper());
    expect((await keeper().full()).written).toBe(0);
  });

  it('finds a changed setting without an event when everything is read', async () => {
    keeper().want(...plainItems);
    await atRest(keeper());
    await others({ op: 'sysctl.set', key: `ipv6/conf/${PORT}/accept_ra`, value: '1' });
    expect(await keeper().differences()).toEqual([`different sysctl ipv6/conf/${PORT}/accept_ra`]);
    expect((await keeper().full()).written).toBe(1);
    expect(await keeper().differences()).toEqual([]);
  });

  it('describes in words what differs', async () => {
    keeper().want(...plainItems);
    await atRest(keeper());
    const done = [...attacks, ...routeAttacks(254)].filter(([what]) =>
      /^(changes an MTU|.* rule.*|changes a route)$/.test(what),
    );
    await others(...done.map(([, op]) => op));
    const found = await keeper().backend.difference(keeper().desired);
    expect(found).toMatchObject([
      {
        kind: 'different',
        desired: `link ${PORT} address 0a:58:64:80:00:02 mtu 1300 up`,
        actual: `link ${PORT} type veth address 0a:58:64:80:00:02 mtu 1290 up`,
      },
      {
        kind: 'different',
        desired: `route 100.128.0.0/16 via 100.128.0.1 dev ${PORT} table 254 proto 85`,
        actual: `route 100.128.0.0/16 via 100.128.0.9 dev ${PORT} table 254 proto 85`,
      },
      { kind: 'unwanted', actual: 'rule IPv4 2000: fwmark 0x9 lookup 7 protocol 85' },
      { kind: 'missing', desired: 'rule IPv4 30: fwmark 0x1745ec lookup 7 protocol 85' },
    ]);
  });
};

const ownershipCases = ({ keeper, others }: BackendWorld): void => {
  const foreign: readonly KernelOp[] = [
    { op: 'address.put', address: { link: 'br-ex', address: parseInterfaceAddress('192.0.2.1/24') } },
    { op: 'route.put', route: route({ dst: parseCidr('198.51.100.0/24'), dev: 'br-ex', protocol: 4 }) },
    { op: 'route.put', route: route({ dst: parseCidr('198.51.101.0/24'), dev: 'br-ex', table: 999 }) },
    { op: 'rule.put', rule: { family: 4, priority: 2000, fwmark: 5, table: 7, protocol: 4 } },
    { op: 'rule.put', rule: { family: 4, priority: 2001, fwmark: 5, table: 7, protocol: 85 } },
    {
      op: 'neighbour.put',
      neighbour: { link: 'br-ex', address: parseIp('192.0.2.9'), mac: parseMac('0a:58:a9:fe:00:09') },
    },
  ];

  it('leaves what others put beside it', async () => {
    await others(...foreign);
    const read = () =>
      keeper().netlink.read({ addresses: true, rules: true, neighbours: true, routes: [{ family: 4 }, { family: 6 }] });
    const before = await read();
    keeper().want(...plainItems);
    await atRest(keeper());
    keeper().unwant(...plainItems);
    await atRest(keeper());
    const after = await read();
    const fixed = ({ neighbours }: typeof before) => neighbours.filter(({ permanent }) => permanent);
    expect(fixed(after)).toEqual(fixed(before));
    expect(new Set(after.rules)).toEqual(new Set(before.rules));
    expect(after.routes).toEqual(expect.arrayContaining(before.routes.filter(({ dev }) => dev === 'br-ex')));
    // Link-local ones are the kernel's, which takes a second or two to find out that nobody else has them.
    const onBridge = ({ addresses }: typeof before) =>
      addresses.filter(({ link: on, scope }) => on === 'br-ex' && scope === 'global');
    expect(onBridge(before)).toHaveLength(3);
    expect(onBridge(after)).toEqual(onBridge(before));
  });

  it('removes what a run before has left, but only when it may', async () => {
    await others(
      // A router's, as routing daemons put it.
      {
        op: 'neighbour.put',
        neighbour: { link: 'br-ex', address: parseIp('169.254.0.1'), mac: parseMac('02:00:00:00:00:01') },
      },
      set(PORT, { up: true }),
      { op: 'address.put', address: { link: PORT, address: parseInterfaceAddress('100.99.0.2/24') } },
      { op: 'route.put', route: route({ dst: parseCidr('100.98.0.0/16'), dev: PORT }) },
      { op: 'route.put', route: route({ dst: parseCidr('100.98.0.0/16'), type: 'unreachable', table: 104_000 }) },
      { op: 'rule.put', rule: { family: 6, priority: 2000, fwmark: 5, table: 104_000, protocol: 85 } },
      {
        op: 'neighbour.put',
        neighbour: { link: PORT, address: parseIp('100.99.0.9'), mac: parseMac('0a:58:a9:fe:00:09') },
      },
      {
        op: 'neighbour.put',
        neighbour: { link: 'br-ex', address: parseIp('169.254.0.9'), mac: parseMac('0a:58:a9:fe:00:09') },
      },
    );
    const left = [
      `unwanted address ${PORT} 100.99.0.2/24`,
      'unwanted neighbour br-ex 169.254.0.9',
      `unwanted neighbour ${PORT} 100.99.0.9`,
      'unwanted route 104000 100.98.0.0/16 0',
      'unwanted route 254 100.98.0.0/16 0',
      'unwanted rule IPv6 2000: fwmark 0x5 lookup 104000',
    ];
    expect(await keeper().differences()).toEqual(left);
    expect((await keeper().full(false)).written).toBe(0);
    expect(await keeper().differences()).toEqual(left);
    expect((await keeper().full()).written).toBe(6);
    expect(await keeper().differences()).toEqual([]);
  });

  it('does not remember what was not wanted', async () => {
    await others(...foreign);
    keeper().unwant(address('br-ex', '192.0.2.1/24'), neighbour('br-ex', '192.0.2.9'));
    expect(await keeper().settle()).toBe(0);
  });
};

const items = [...bridgeItems, ...networkItems];

const vrfCases = ({ harness, keeper, others }: BackendWorld): void => {
  it('keeps a network out of the main table where there are no VRFs', async (context) => {
    context.skip(await hasVrf(harness()), 'this kernel has VRFs');
    const { failed, waiting, unsupported } = await keeper()
      .want(...items)
      .full();
    // Not tried again, but said.
    expect([...failed, ...waiting]).toEqual([]);
    for (const key of [
      `link ${VRF}`,
      `link ${PORT}`,
      `address ${PORT} 100.128.0.2/24`,
      `route ${TABLE} 100.128.0.0/16 0`,
      `rule IPv4 2000: fwmark 0x1003 lookup ${TABLE}`,
    ]) {
      expect([key, unsupported?.get(key)]).toEqual([key, 'this kernel has no VRF (CONFIG_NET_VRF)']);
    }
    await keeper().settle();
    const { addresses, routes } = await keeper().netlink.read({ addresses: true, routes: [{ family: 4, table: 254 }] });
    expect(addresses.filter((one) => one.link === PORT && one.scope === 'global')).toEqual([]);
    expect(routes.filter(({ dev }) => dev === PORT)).toEqual([]);
  });

  it('brings a network about in its VRF, and then has nothing to do', async (context) => {
    await requireVrf(harness(), context);
    const { failed, waiting } = await keeper()
      .want(...items)
      .full();
    expect([failed, waiting]).toEqual([new Map(), new Map()]);
    await atRest(keeper());
    expect(await keeper().full()).toMatchObject({ written: 0 });
    expect(keeper().drift()).toEqual([]);
  });

  it.for([
    ...routeAttacks(TABLE),
    ['deletes the VRF', { op: 'link.delete', name: VRF }],
    ['takes the port out', set(PORT, { master: null })],
    ['sets the VRF down', set(VRF, { up: false })],
    ['renames what is ours', set(VRF, { alias: 'mine' })],
    ['takes the IPv4 rule of all VRFs', { op: 'rule.delete', rule: vrfRule(4) }],
    ['takes the IPv6 rule of all VRFs', { op: 'rule.delete', rule: vrfRule(6) }],
  ] as [string, KernelOp][])('repairs a network when somebody %s', async ([, attack], context) => {
    await requireVrf(harness(), context);
    keeper().want(...items);
    await atRest(keeper());
    keeper().reported.length = 0;
    await others(attack);
    await vi.waitFor(() => expect(keeper().reported.length).toBeGreaterThan(0), { timeout: 30_000 });
    await atRest(keeper());
    expect((await keeper().full()).written).toBe(0);
  });
};

const vrfRemovalCases = ({ harness, keeper, others }: BackendWorld): void => {
  it('takes a network away, and VRFs of others not', async (context) => {
    await requireVrf(harness(), context);
    await others({ op: 'master.add', master: { kind: 'vrf', name: 'mgmt', table: 100_100 } });
    keeper().want(...items);
    await atRest(keeper());
    keeper().unwant(...networkItems);
    await atRest(keeper());
    const { links, routes } = await keeper().netlink.read({ links: true, routes: [{ family: 4 }, { family: 6 }] });
    expect(links.filter(({ kind }) => kind === 'vrf').map((one) => one.name)).toEqual(['mgmt']);
    expect(routes.filter(({ table, protocol }) => table === TABLE && protocol === 85)).toEqual([]);
  });

  it('makes a VRF of ours again that has another table, and not one of others', async (context) => {
    await requireVrf(harness(), context);
    keeper().want(...items);
    await atRest(keeper());
    const elsewhere = { ...networkItems[0], link: { kind: 'vrf', name: VRF, table: TABLE + 1 } } as const;
    keeper()
      .unwant(...networkItems)
      .want({ kind: 'link', link: elsewhere.link }, ...portItems(TABLE + 1, VRF));
    await atRest(keeper());
    await others(set(VRF, { alias: 'mine' }), { op: 'link.delete', name: VRF });
    await others({ op: 'master.add', master: { kind: 'bridge', name: VRF } });
    await keeper().settle();
    expect((await keeper().full()).failed).toEqual(new Map([[`link ${VRF}`, `link ${VRF} exists and is foreign`]]));
  });
};

const hasVrf = async ({ netlink }: Harness): Promise<boolean> => {
  const probe: KernelOp = { op: 'master.add', master: { kind: 'vrf', name: 'probe', table: 5 } };
  const failures = await netlink.apply({ ops: [probe, { op: 'link.delete', name: 'probe' }] });
  return failures.length === 0;
};

const requireVrf = async (harness: Harness, context: TestContext): Promise<void> =>
  context.skip(!(await hasVrf(harness)), 'this kernel has no VRF (CONFIG_NET_VRF)');
