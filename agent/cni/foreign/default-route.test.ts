/** Pods whose default route is by a network of another plugin, and those that keep theirs beside one. */
import { describe, expect, it } from 'vitest';
import { parseCniResult } from '../../../api/cni/result.ts';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import type { KernelOp } from '../../../datapath/netlink/kernel/types.ts';
import { route } from '../../../datapath/netlink/route/types.ts';
import { defaultRoute, parseInterfaceAddress } from '../../../net/cidr.ts';
import { FAMILIES, ipFamily, parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { NETNS, SANDBOX, setUp } from '../../testing/cni-handler.ts';
import { ended } from '../../testing/fake-plugins.ts';
import { unreachableGateway, withDefaultRoutes } from './default-route.ts';

const ADDRESSES = ['10.5.0.7/24', 'fd05::7/64'];
const GATEWAYS = ['10.5.0.1', 'fd05::1'].map(parseIp);

/** A pod of the default network on `lan` and `wan`, both of the plugin `bridge`, which makes default routes of its own. */
const withLans = (selection: object, other: object = { name: 'wan' }) => {
  const it = setUp({ foreignPlugins: parseForeignPlugins('bridge') });
  const conf = { type: 'bridge', cniVersion: '1.0.0', name: 'lan' };
  it.cluster
    .foreignNad('ns/lan', conf)
    .foreignNad('ns/wan', conf)
    .pod('ns/a', {
      ...{ node: 'node1', selects: JSON.stringify([{ name: 'lan', ...selection }, other]) },
      networks: { default: { ips: ['10.128.0.3/23', 'fd00::3/64'] } },
    });
  it.flush();
  it.plugins.answers.set('ADD bridge', () => {
    const name = it.plugins.calls.at(-1)?.ifName ?? '';
    it.kernel.netns(NETNS).apply(bridged(name));
    return ended(JSON.stringify(resultOf(name)));
  });
  const routes = () =>
    FAMILIES.flatMap((family) => it.kernel.netns(NETNS).routes({ family }))
      .filter(({ dst }) => dst === '0.0.0.0/0' || dst === '::/0')
      .map(({ dev, via }) => `${dev} ${via}`);
  return { ...it, routes };
};

const bridged = (name: string): readonly KernelOp[] => [
  {
    op: 'link.add',
    link: {
      ...{ kind: 'veth', name: `h-${name}`, mac: parseMac('02:00:00:00:00:08'), mtu: 1500, group: 0 },
      peer: { name, mac: parseMac('02:00:00:00:00:07'), mtu: 1500, group: 0, netns: NETNS },
    },
  },
  { op: 'link.set', name, change: { up: true } },
  ...ADDRESSES.map(
    (text): KernelOp => ({ op: 'address.put', address: { link: name, address: parseInterfaceAddress(text) } }),
  ),
  ...(name === 'net2' ? GATEWAYS : []).map(
    (via): KernelOp => ({ op: 'route.put', route: route({ dst: defaultRoute(ipFamily(via)), dev: name, via }) }),
  ),
];

const resultOf = (name: string): object => ({
  cniVersion: '1.0.0',
  interfaces: [{ name: 'br0' }, { name, sandbox: NETNS }],
  ips: ADDRESSES.map((address) => ({ address, interface: 1 })),
  routes: name === 'net2' ? GATEWAYS.map((gw) => ({ dst: defaultRoute(ipFamily(gw)), gw })) : [],
});

const recorded = (text: string | undefined): unknown =>
  JSON.parse(text ?? '{}').attachments.map(({ result }: { result: { routes: unknown } }) => result.routes);

describe('a pod whose default routes are by a network of another plugin', () => {
  it('has those and no others, of both families', async () => {
    const it = withLans({ 'default-route': GATEWAYS });
    await it.call('ADD');
    expect(it.routes()).toEqual(['net1 10.5.0.1', 'net1 fd05::1']);
  });

  it('keeps what it has of the other family', async () => {
    const it = withLans({ 'default-route': ['10.5.0.1'] });
    await it.call('ADD');
    expect(it.routes()).toEqual(['net1 10.5.0.1', 'net2 fd05::1']);
  });

  it('tells the plugins in CHECK which routes there are now', async () => {
    const it = withLans({ 'default-route': GATEWAYS });
    await it.call('ADD');
    expect(recorded(it.store.files.get(SANDBOX))).toEqual([
      [
        { dst: '0.0.0.0/0', gw: '10.5.0.1' },
        { dst: '::/0', gw: 'fd05::1' },
      ],
      [],
    ]);
  });

  it('is told by CHECK when one is gone', async () => {
    const it = withLans({ 'default-route': GATEWAYS });
    await it.call('ADD');
    it.plugins.answers.set('CHECK bridge', ended(''));
    expect(await it.call('CHECK')).toBe('');
    const [gone] = it.kernel
      .netns(NETNS)
      .routes({ family: 6 })
      .filter(({ dst }) => dst === '::/0');
    if (gone !== undefined) it.kernel.netns(NETNS).apply([{ op: 'route.delete', route: gone }]);
    await expect(it.call('CHECK')).rejects.toThrow('ns/lan as net1: net1 should have a route to ::/0 via fd05::1');
  });

  it('is refused a gateway that the interface has no way to, and nothing is left', async () => {
    const it = withLans({ 'default-route': ['10.6.0.1'] });
    await expect(it.call('ADD')).rejects.toMatchObject({
      reason: 'foreignPlugin',
      message:
        'ns/lan as net1: default-route: gateway 10.6.0.1 is in no network of net1, to which the plugin has given 10.5.0.7/24, fd05::7/64',
    });
    expect(it.plugins.log()).toEqual(['ADD bridge net1', 'DEL bridge net1']);
    expect([...it.store.files]).toEqual([]);
  });

  it('is refused where the kernel does not take the route, and everything is taken back', async () => {
    const it = withLans({ 'default-route': GATEWAYS });
    it.plugins.answers.set('ADD bridge', () => ended(JSON.stringify(resultOf(it.plugins.calls.at(-1)?.ifName ?? ''))));
    await expect(it.call('ADD')).rejects.toThrow(/^ns\/lan as net1: default-route: .*net1/);
    expect(it.plugins.log().slice(2)).toEqual(['DEL bridge net2', 'DEL bridge net1']);
    expect(it.ports.all()).toEqual([]);
  });
});

describe('a gateway', () => {
  const result = (...addresses: readonly string[]) =>
    parseCniResult({ interfaces: [{ name: 'n', sandbox: '/x' }], ips: addresses.map((address) => ({ address })) });
  const refused = (gateway: string, ...addresses: readonly string[]) =>
    unreachableGateway({ interfaceName: 'n', gateways: [parseIp(gateway)] }, result(...addresses));

  it.each([
    ['10.5.0.1', ['10.5.0.7/24']],
    ['fe80::1', ['fd05::7/64']],
    ['fd05::1', ['10.5.0.7/24', 'fd05::7/64']],
  ])('%s is reachable from %j', (gateway, addresses) => {
    expect(refused(gateway, ...addresses)).toBeUndefined();
  });

  it.each([
    ['fe80::1', ['10.5.0.7/24']],
    ['10.5.1.1', ['10.5.0.7/24']],
    ['fd06::1', ['fd05::7/64']],
  ])('%s is not from %j', (gateway, addresses) => {
    expect(refused(gateway, ...addresses)).toContain(`gateway ${gateway} is in no network of n`);
  });

  it('is not the address of the pod', () => {
    expect(refused('10.5.0.7', '10.5.0.7/24')).toBe('default-route: gateway 10.5.0.7 is the address of n itself');
  });

  it('is not where the plugin reports no address', () => {
    expect(refused('10.5.0.1')).toBe(
      'default-route: gateway 10.5.0.1 is in no network of n, to which the plugin has given no address',
    );
  });
});

it('a result keeps what is not a default route of the main table, and what we do not know', () => {
  const result = {
    x: 1,
    routes: [
      { dst: '0.0.0.0/0', gw: '10.5.0.9', mtu: 1300 },
      { dst: '0.0.0.0/0', gw: '10.5.0.9', table: 100 },
      { dst: '10.0.0.0/8', gw: '10.5.0.9', y: 2 },
      { dst: '::/0', gw: 'fd05::9' },
    ],
  };
  const [, ...others] = result.routes;
  const parsed = parseCniResult(result);
  expect(withDefaultRoutes(result, parsed, { families: [4], gateways: [] })).toEqual({ x: 1, routes: others });
  expect(withDefaultRoutes({ x: 1 }, { routes: [] }, { families: [4], gateways: [] })).toEqual({ x: 1 });
});
