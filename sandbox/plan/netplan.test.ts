import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { cidrsOverlap } from '../../net/cidr.ts';
import { settingsEnvironment } from './cluster-settings.ts';
import { nodeBatch, plainHostBatch, routesBy, underlayBatch } from './links.ts';
import { addressOfFamily, planNetwork } from './netplan.ts';

describe('planNetwork', () => {
  it.each([
    ['4', ['172.20.0.11/24']],
    ['6', ['fd00:172:20::b/64']],
    ['dual', ['172.20.0.11/24', 'fd00:172:20::b/64']],
  ] as const)('family %s', (families, addresses) => {
    const plan = planNetwork(families, 1);
    expect(plan.nodes).toEqual([{ name: 'node-1', port: 'u-node-1', mac: '02:00:ac:14:00:0b', addresses }]);
  });

  it('no two machines share anything, with as many nodes as there may be', () => {
    const { nodes, outside, gateway } = planNetwork('dual', 200);
    const all = [outside, ...nodes];
    for (const values of [
      all.map(({ mac }) => mac),
      all.map(({ port }) => port),
      [...all.flatMap(({ addresses }) => addresses), ...gateway],
    ]) {
      expect(new Set(values).size).toBe(values.length);
    }
    expect(all.every(({ port }) => port.length <= 15)).toBe(true);
  });

  it.each(['4', '6', 'dual'] as const)('overlaps no range of a cluster of family %s', (ipFamily) => {
    const env = settingsEnvironment({
      ipFamily,
      gatewayMode: 'local',
      encryption: 'none',
      settings: { UDN_LOG_LEVEL: 'debug' },
    });
    expect(env['UDN_GATEWAY_MODE']).toBe('local');
    const config = parseClusterConfig({
      clusterSubnets: env['UDN_CLUSTER_SUBNETS'],
      serviceSubnets: env['UDN_SERVICE_SUBNETS'],
    });
    const ranges = [
      ...config.clusterSubnets.map(({ cidr }) => cidr),
      ...[config.serviceSubnets, config.joinSubnets, config.udnJoinSubnets, config.transitSubnets].flat(),
      ...config.masqueradeSubnets,
    ];
    for (const subnet of planNetwork(ipFamily, 1).subnets) {
      expect(ranges.filter((range) => cidrsOverlap(range, subnet))).toEqual([]);
    }
  });

  it('addressOfFamily', () => {
    const [node] = planNetwork('dual', 1).nodes;
    expect(addressOfFamily(node?.addresses ?? [], 6)).toBe('fd00:172:20::b');
    expect(addressOfFamily(planNetwork('4', 1).outside.addresses, 6)).toBeUndefined();
  });
});

describe('ip batches', () => {
  const plan = planNetwork('dual', 1);
  const [node = plan.outside] = plan.nodes;

  it('the underlay', () => {
    expect(underlayBatch(plan, ({ name }) => (name === 'outside' ? 7 : 8))).toBe(`\
link add underlay type bridge mcast_snooping 0
link set underlay mtu 1500 up
addr replace 172.20.0.1/24 dev underlay
addr replace fd00:172:20::1/64 dev underlay nodad
link add u-outside mtu 1500 type veth peer name eth0 address 02:00:ac:14:00:02 mtu 1500 netns 7
link set u-outside master underlay up
link add u-node-1 mtu 1500 type veth peer name eth0 address 02:00:ac:14:00:0b mtu 1500 netns 8
link set u-node-1 master underlay up
`);
  });

  it('a node has its addresses on br-ex, another host on its uplink', () => {
    expect(nodeBatch(plan, node)).toBe(`\
link set eth0 up
link set br-ex up
addr replace 172.20.0.11/24 dev br-ex
addr replace fd00:172:20::b/64 dev br-ex nodad
route replace default via 172.20.0.1 dev br-ex
route replace default via fd00:172:20::1 dev br-ex
`);
    expect(plainHostBatch(plan, plan.outside)).toBe(`\
link set eth0 up
addr replace 172.20.0.2/24 dev eth0
addr replace fd00:172:20::2/64 dev eth0 nodad
route replace default via 172.20.0.1 dev eth0
route replace default via fd00:172:20::1 dev eth0
`);
  });
});

it('routes lead to subnets by a host, each by its address of the family', () => {
  const subnets = ['10.96.0.0/16', 'fd00:10:96::/112'];
  const routes = (families: '4' | 'dual') => routesBy(planNetwork(families, 1).nodes[0], subnets);
  expect(routes('dual')).toEqual([
    'route replace 10.96.0.0/16 via 172.20.0.11',
    'route replace fd00:10:96::/112 via fd00:172:20::b',
  ]);
  expect(routes('4')).toEqual(['route replace 10.96.0.0/16 via 172.20.0.11']);
  expect(routesBy(undefined, subnets)).toEqual([]);
});
