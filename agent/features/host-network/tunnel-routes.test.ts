import { expect, it } from 'vitest';
import { type Ip, parseIp } from '../../../net/ip.ts';
import { emptyCluster, type Variant } from '../../../test/unit/golden/worked-cluster.ts';
import type { GatewayFact } from '../../model/facts.ts';
import { tunnelRoutes } from './tunnel-routes.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };

interface Case {
  readonly encapIps: readonly string[];
  readonly gateway?: Partial<GatewayFact> | undefined;
}

const routesOf = ({ encapIps, gateway = {} }: Case): string[] => {
  const fact = emptyCluster(DUAL).facts.get('gateway', 'node1') as GatewayFact;
  const view = {
    node: 'node1',
    encapIps: encapIps.map((ip): Ip => parseIp(ip)),
    gateway: () => ({ ...fact, ...gateway }),
  };
  return tunnelRoutes(view as unknown as Parameters<typeof tunnelRoutes>[0]).map((item) => {
    if (item.kind !== 'route') throw new Error(item.kind);
    const { type, dst, dev, src, via, table } = item.route;
    return [table, type, dst, `dev ${dev}`, ...(src === undefined ? [] : [`src ${src}`]), ...(via ? ['via'] : [])].join(
      ' ',
    );
  });
};

it('the tunnels’ own addresses and their neighbours are in the table that ovs-vswitchd reads first', () => {
  expect(routesOf({ encapIps: ['172.30.0.2', 'fd00:30::2'] })).toEqual([
    '253 local 172.30.0.2/32 dev br-ex',
    '253 local fd00:30::2/128 dev br-ex',
    '253 unicast 172.30.0.0/24 dev br-ex src 172.30.0.2',
    '253 unicast fd00:30::/64 dev br-ex src fd00:30::2',
  ]);
  expect(routesOf({ encapIps: ['fd00:30::2'] })).toHaveLength(2);
});

it('several addresses in one network share the route to it', () => {
  const addresses = ['172.30.0.2/24', '172.30.0.7/24'] as unknown as GatewayFact['addresses'];
  expect(routesOf({ encapIps: ['172.30.0.2', '172.30.0.7'], gateway: { addresses } })).toEqual([
    '253 local 172.30.0.2/32 dev br-ex',
    '253 local 172.30.0.7/32 dev br-ex',
    '253 unicast 172.30.0.0/24 dev br-ex src 172.30.0.2',
  ]);
});

it('tunnels that end at another link have none: nothing is known of it', () =>
  expect(routesOf({ encapIps: ['192.0.2.5'] })).toEqual([]));

it('the kernel’s datapath has none, and neither has a node whose gateway is not known', () => {
  expect(routesOf({ encapIps: ['172.30.0.2'], gateway: { cannotAdvertise: true } })).toEqual([]);
  const view = { node: 'node1', encapIps: [parseIp('172.30.0.2')], gateway: () => undefined };
  expect(tunnelRoutes(view as unknown as Parameters<typeof tunnelRoutes>[0])).toEqual([]);
});
