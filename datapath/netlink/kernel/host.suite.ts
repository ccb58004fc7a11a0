/** What a node needs of its own namespace beyond what pods do: masters, rules, neighbours, events. */
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { defaultRoute, parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import type { NewAddress } from '../address/types.ts';
import type { Harness } from '../harness.suite.ts';
import type { LinkChange } from '../link/types.ts';
import type { NetlinkEvent } from '../monitor/events.ts';
import { type Route, route } from '../route/types.ts';
import { type Rule, ruleText } from '../rule/types.ts';
import type { KernelOp, RouteFilter } from './types.ts';

interface HostWorld {
  readonly harness: () => Harness;
  /** Gives `op CODE` of what failed. */
  readonly apply: (...ops: KernelOp[]) => Promise<string[]>;
  readonly routes: (...filters: RouteFilter[]) => Promise<readonly Route[]>;
}

/** A namespace with one veth pair, `a` and `b`, both up. */
export const hostSuite = (name: string, open: () => Promise<Harness>): void => {
  describe(`${name} as the kernel of a node`, () => {
    let harness: Harness;
    const apply = async (...ops: KernelOp[]): Promise<string[]> =>
      (await harness.netlink.apply({ ops })).map(({ op, error }) => `${op.op} ${error.code}`);
    beforeEach(async () => {
      harness = await open();
      expect(await apply(pair, set('lo', { up: true }), set('a', { up: true }), set('b', { up: true }))).toEqual([]);
    });
    afterEach(async () => harness[Symbol.asyncDispose]());
    const world: HostWorld = {
      harness: () => harness,
      apply,
      routes: async (...filters) => (await harness.netlink.read({ routes: filters })).routes,
    };
    masterCases(world);
    addressCases(world);
    routeCases(world);
    ruleCases(world);
    neighbourCases(world);
    eventCases(world);
    settingCases(world);
  });
};

const masterCases = ({ apply, harness, routes }: HostWorld): void => {
  it('puts a link into a master and takes it out', async () => {
    expect(await apply(bridge, set('a', { master: 'br' }))).toEqual([]);
    const [a, br] = [await linkOf(harness(), 'a'), await linkOf(harness(), 'br')];
    expect(br).toMatchObject({ kind: 'bridge', up: false });
    expect(a?.master).toBe(br?.index);
    expect(await apply(bridge)).toEqual(['master.add EEXIST']);
    expect(await apply(set('a', { master: null }))).toEqual([]);
    expect((await linkOf(harness(), 'a'))?.master).toBeUndefined();
    expect(await apply(set('a', { master: 'absent' }))).toEqual(['link.set ENODEV']);
  });

  it('has VRFs, with their tables', async (context) => {
    await requireVrf(harness(), context);
    expect(await apply(vrf, set('v', { up: true, alias: 'an alias' }))).toEqual([]);
    expect(await linkOf(harness(), 'v')).toMatchObject({ kind: 'vrf', vrfTable: 100_003, up: true, alias: 'an alias' });
  });

  it('takes much of a link away that goes into a VRF', async (context) => {
    await requireVrf(harness(), context);
    await apply(vrf, set('v', { up: true }), put('10.0.0.5/24'), put('fd00::5/64'), putRoute('10.5.0.0/16'));
    expect(await apply(set('a', { master: 'v' }))).toEqual([]);
    expect(await globals(harness())).toEqual(['10.0.0.5/24']);
    expect((await routes({ family: 4, table: 254 })).filter(({ dev }) => dev === 'a')).toEqual([]);
    expect((await routes({ family: 4, table: 100_003 })).map(({ dst }) => dst)).toContain('10.0.0.0/24');
    expect(await apply(putRoute('10.5.0.0/16', { table: 100_003 }), { op: 'link.delete', name: 'v' })).toEqual([]);
    expect(await linkOf(harness(), 'a')).toMatchObject({ up: true, master: undefined });
    expect(await routes({ family: 4, table: 100_003, protocol: 85 })).toEqual([]);
  });
};

const addressCases = ({ apply, harness, routes }: HostWorld): void => {
  const details = async (): Promise<object[]> => {
    const { addresses } = await harness().netlink.read({ addresses: true });
    return addresses.filter(({ link, scope }) => link === 'a' && scope === 'global');
  };

  it('has addresses that are deprecated, and without a route', async () => {
    expect(
      await apply(
        put('fd69::2/112', { deprecated: true }),
        put('10.0.0.5/24', { noPrefixRoute: true }),
        put('fd00::5/64', { noPrefixRoute: true }),
      ),
    ).toEqual([]);
    const shared = { link: 'a', scope: 'global', state: 'valid' };
    expect(await details()).toEqual(
      expect.arrayContaining([
        { ...shared, address: 'fd69::2/112', deprecated: true },
        expect.objectContaining({ ...shared, address: '10.0.0.5/24', noPrefixRoute: true }),
        { ...shared, address: 'fd00::5/64', noPrefixRoute: true },
      ]),
    );
    const made = (await routes({ family: 4, table: 254 }, { family: 6, table: 254 })).map(({ dst }) => dst);
    expect(made).toContain('fd69::/112');
    expect(made).not.toContain('10.0.0.0/24');
    expect(made).not.toContain('fd00::/64');
  });

  it('makes an address deprecated later, and back', async () => {
    await apply(put('fd69::2/112'));
    expect(await apply(put('fd69::2/112', { deprecated: true }))).toEqual([]);
    expect(await details()).toMatchObject([{ deprecated: true }]);
    expect(await apply(put('fd69::2/112'))).toEqual([]);
    expect(await details()).not.toMatchObject([{ deprecated: true }]);
  });
};

const routeCases = ({ apply, routes }: HostWorld): void => {
  it('has routes to nowhere in the table of a network', async () => {
    const desired = ([4, 6] as const).map((family) =>
      route({ dst: defaultRoute(family), type: 'unreachable', table: 100_003, metric: 4_278_198_272 }),
    );
    const ops = desired.map((one): KernelOp => ({ op: 'route.put', route: one }));
    expect(await apply(...ops, ...ops)).toEqual([]);
    expect(await routes({ family: 4, table: 100_003 }, { family: 6, table: 100_003 })).toEqual(desired);
    expect(await apply(...desired.map((one): KernelOp => ({ op: 'route.delete', route: one })))).toEqual([]);
    expect(await routes({ family: 4, table: 100_003 }, { family: 6, table: 100_003 })).toEqual([]);
  });

  it('keeps an IPv6 route whose source goes, without it', async () => {
    const src = parseIp('fd69::2');
    await apply(put('fd69::2/112'), put('fd69::3/112'), putRoute('fd96::/112', { via: parseIp('fd69::4'), src }));
    await apply({ op: 'address.delete', address: { link: 'a', address: parseInterfaceAddress('fd69::2/112') } });
    expect(await routes({ family: 6, protocol: 85 })).toEqual([toA('fd96::/112', { via: parseIp('fd69::4') })]);
  });

  it('gives only the routes of one maker', async () => {
    await apply(
      put('10.0.0.5/24'),
      putRoute('10.5.0.0/16'),
      putRoute('10.6.0.0/16', { protocol: 4 }),
      putRoute('fd05::/64', { table: 100_003 }),
    );
    const ours = await routes({ family: 4, protocol: 85 }, { family: 6, protocol: 85 });
    expect(ours.map(({ dst, table }) => `${dst} ${table}`)).toEqual(['10.5.0.0/16 254', 'fd05::/64 100003']);
  });
};

const ruleCases = ({ apply, harness }: HostWorld): void => {
  const rules = async (): Promise<readonly Rule[]> =>
    (await harness().netlink.read({ rules: true })).rules.filter(({ protocol }) => protocol !== 2);

  it('has rules of both families, as they were put', async () => {
    const desired: Rule[] = [
      { ...rule, fwmark: 0x1003 },
      { ...rule, fwmark: 0x1003, fwmask: 0xffff, table: 7 },
      { ...rule, to: parseCidr('169.254.0.12/32') },
      { ...rule, from: parseCidr('10.0.0.0/8'), iif: 'a', priority: 30 },
      { ...rule, family: 6, fwmark: 0x1003 },
      { ...rule, family: 6, to: parseCidr('fd69::c/128'), table: 254 },
    ];
    const ops = desired.map((one): KernelOp => ({ op: 'rule.put', rule: one }));
    expect(await apply(...ops, ...ops)).toEqual([]);
    expect(new Set(await rules())).toEqual(new Set(desired));
    const gone = desired.map((one): KernelOp => ({ op: 'rule.delete', rule: one }));
    expect(await apply(...gone, ...gone)).toEqual([]);
    expect(await rules()).toEqual([]);
  });

  it('deletes only those of the protocol', async () => {
    const theirs = { ...rule, fwmark: 1, protocol: 4 };
    const ours = { ...theirs, protocol: 85 };
    expect(await apply({ op: 'rule.put', rule: theirs }, { op: 'rule.put', rule: ours })).toEqual([]);
    expect((await rules()).map(ruleText)).toEqual([ruleText(ours), ruleText(ours)]);
    expect(await apply({ op: 'rule.delete', rule: ours }, { op: 'rule.delete', rule: ours })).toEqual([]);
    expect(await rules()).toEqual([theirs]);
  });
};

const neighbourCases = ({ apply, harness }: HostWorld): void => {
  const permanent = async (): Promise<object[]> =>
    (await harness().netlink.read({ neighbours: true })).neighbours.filter((one) => one.permanent);

  it('has permanent neighbours until they or their link go', async () => {
    const ops = [neighbour('169.254.0.4', 1), neighbour('fd69::4', 1)];
    expect(await apply(...ops, ...ops, neighbour('169.254.0.4', 2))).toEqual([]);
    expect(await permanent()).toEqual([
      { link: 'a', address: '169.254.0.4', mac: '0a:00:00:00:00:02', permanent: true },
      { link: 'a', address: 'fd69::4', mac: '0a:00:00:00:00:01', permanent: true },
    ]);
    const gone: KernelOp = { op: 'neighbour.delete', neighbour: { link: 'a', address: parseIp('fd69::4') } };
    const absent: KernelOp = { op: 'neighbour.delete', neighbour: { link: 'absent', address: parseIp('fd69::4') } };
    expect(await apply(gone, gone, absent)).toEqual([]);
    expect(await permanent()).toHaveLength(1);
    await apply(set('a', { up: false }));
    expect(await permanent()).toEqual([]);
    expect(await apply(neighbour('fd69::4', 1, 'absent'))).toEqual(['neighbour.put ENODEV']);
  });
};

/** Words for the events of a change before its answer comes. */
const observed =
  ({ apply, harness }: HostWorld) =>
  async (...ops: KernelOp[]): Promise<string[]> => {
    const seen: string[] = [];
    const stop = harness().netlink.watch((events) => seen.push(...events.map(words)));
    // The watch begins before this is answered.
    await harness().netlink.read({});
    seen.length = 0;
    expect(await apply(...ops)).toEqual([]);
    stop();
    return seen;
  };

const settingCases = (world: HostWorld): void => {
  it('reports some settings of links, for each family', async () => {
    const seen = await observed(world)(
      { op: 'sysctl.set', key: 'ipv4/conf/a/rp_filter', value: '2' },
      { op: 'sysctl.set', key: 'ipv4/conf/a/forwarding', value: '1' },
      { op: 'sysctl.set', key: 'ipv6/conf/a/forwarding', value: '1' },
      { op: 'sysctl.set', key: 'ipv6/conf/a/accept_ra', value: '0' },
    );
    expect(seen.filter((text) => text.startsWith('setting'))).toEqual([
      'setting ipv4/conf/a/rp_filter 2',
      'setting ipv4/conf/a/forwarding 1',
      'setting ipv6/conf/a/forwarding 1',
    ]);
  });
};

const eventCases = (world: HostWorld): void => {
  const { apply, harness } = world;
  const reported = observed(world);

  it('reports addresses, routes, rules and neighbours that come and go', async () => {
    const added = await reported(
      put('10.0.0.5/24'),
      putRoute('10.5.0.0/16', { via: parseIp('10.0.0.1') }),
      putRoute('10.5.0.0/16', { via: parseIp('10.0.0.2') }),
      putRoute('fd05::/64', { table: 100_003 }),
      { op: 'rule.put', rule: { ...rule, fwmark: 1 } },
      neighbour('169.254.0.4', 1),
    );
    expect(added.filter((text) => !text.startsWith('link'))).toEqual([
      'address new a 10.0.0.5/24',
      'route new 10.5.0.0/16 254 via 10.0.0.1',
      'route new 10.5.0.0/16 254 via 10.0.0.2 in place of another',
      'route new fd05::/64 100003 via undefined',
      'rule new IPv4 2000: fwmark 0x1 lookup 100003',
      'neighbour new a 169.254.0.4 0a:00:00:00:00:01',
    ]);
    const removed = await reported(
      { op: 'rule.delete', rule: { ...rule, fwmark: 1 } },
      { op: 'neighbour.delete', neighbour: { link: 'a', address: parseIp('169.254.0.4') } },
      { op: 'route.delete', route: toA('10.5.0.0/16', { via: parseIp('10.0.0.2') }) },
      { op: 'address.delete', address: { link: 'a', address: parseInterfaceAddress('10.0.0.5/24') } },
    );
    expect(removed.filter((text) => / gone /.test(text))).toEqual([
      'rule gone IPv4 2000: fwmark 0x1 lookup 100003',
      expect.stringMatching(/^neighbour gone a 169.254.0.4/),
      'route gone 10.5.0.0/16 254 via 10.0.0.2',
      'address gone a 10.0.0.5/24',
    ]);
  });

  it('reports links, with all that is known of them', async () => {
    const seen = await reported(bridge, set('br', { up: true }), set('a', { master: 'br', up: false }), {
      op: 'link.delete',
      name: 'br',
    });
    const links = seen.filter((text) => text.startsWith('link'));
    expect(links[0]).toBe('link new br down');
    expect(links).toContain('link new br up');
    expect(links).toContain('link new a down');
    // A port that leaves its bridge is no link that goes.
    expect(links.filter((text) => text.includes('gone'))).toEqual(['link gone br down']);
  });

  it('does not report the IPv4 routes that go with their link', async () => {
    await apply(putRoute('10.5.0.0/16'));
    const seen = await reported(set('a', { up: false }));
    expect(seen).toContain('link new a down');
    expect(seen.filter((text) => text.startsWith('route'))).toEqual([]);
  });

  it('does not report the IPv6 routes that lose their source with its address', async () => {
    await apply(put('fd69::2/112'), putRoute('fd96::/112', { src: parseIp('fd69::2') }));
    const seen = await reported({
      op: 'address.delete',
      address: { link: 'a', address: parseInterfaceAddress('fd69::2/112') },
    });
    expect(seen.filter((text) => text.startsWith('route'))).toEqual([]);
  });

  it('is silent after its end', async () => {
    const seen: NetlinkEvent[] = [];
    const stop = harness().netlink.watch((events) => seen.push(...events));
    stop();
    await apply(put('10.0.0.5/24'));
    expect(seen).toEqual([]);
  });
};

const words = (event: NetlinkEvent): string => {
  switch (event.kind) {
    case 'link':
      return `link ${event.change} ${event.link.name} ${event.link.up ? 'up' : 'down'}`;
    case 'address':
      return `address ${event.change} ${event.address.link} ${event.address.address}`;
    case 'route': {
      const { dst, table, via } = event.route;
      return `route ${event.change} ${dst} ${table} via ${via}${event.replaced ? ' in place of another' : ''}`;
    }
    case 'rule':
      return `rule ${event.change} ${ruleText(event.rule)}`;
    case 'neighbour':
      return `neighbour ${event.change} ${event.neighbour.link} ${event.neighbour.address} ${event.neighbour.mac}`;
    case 'setting':
      return `setting ${event.key} ${event.value}`;
    case 'lost':
      return 'lost';
  }
};

const requireVrf = async ({ netlink }: Harness, context: TestContext): Promise<void> => {
  const [failure] = await netlink.apply({ ops: [{ op: 'master.add', master: { ...vrf.master, name: 'probe' } }] });
  context.skip(failure?.error.code === 'ENOTSUP', 'this kernel has no VRF (CONFIG_NET_VRF)');
  expect(failure).toBeUndefined();
  await netlink.apply({ ops: [{ op: 'link.delete', name: 'probe' }] });
};

const linkOf = async ({ netlink }: Harness, name: string) =>
  (await netlink.read({ links: true })).links.find((link) => link.name === name);

const globals = async ({ netlink }: Harness): Promise<string[]> =>
  (await netlink.read({ addresses: true })).addresses
    .filter(({ link, scope }) => link === 'a' && scope === 'global')
    .map(({ address }) => address);

const end = { mac: parseMac('0a:58:0a:80:01:03'), mtu: 1400, group: 7 };
const pair: KernelOp = {
  op: 'link.add',
  link: {
    kind: 'veth',
    name: 'a',
    ...end,
    peer: { name: 'b', ...end, mac: parseMac('0a:58:0a:80:01:04'), netns: undefined },
  },
};
const bridge: KernelOp = { op: 'master.add', master: { kind: 'bridge', name: 'br' } };
const vrf = { op: 'master.add', master: { kind: 'vrf', name: 'v', table: 100_003 } } as const;
const rule: Rule = { family: 4, priority: 2000, table: 100_003, protocol: 85 };

const set = (name: string, change: LinkChange): KernelOp => ({ op: 'link.set', name, change });

const put = (address: string, fields: Partial<NewAddress> = {}): KernelOp => ({
  op: 'address.put',
  address: { link: 'a', address: parseInterfaceAddress(address), ...fields },
});

const toA = (dst: string, fields: Partial<Route> = {}): Route => route({ dst: parseCidr(dst), dev: 'a', ...fields });

const putRoute = (dst: string, fields: Partial<Route> = {}): KernelOp => ({ op: 'route.put', route: toA(dst, fields) });

const neighbour = (address: string, last: number, link = 'a'): KernelOp => ({
  op: 'neighbour.put',
  neighbour: { link, address: parseIp(address), mac: parseMac(`0a:00:00:00:00:0${last}`) },
});
