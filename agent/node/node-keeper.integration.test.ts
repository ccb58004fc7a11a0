/** With a real kernel and a real Open vSwitch: what changes is seen by event. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import { projectNode } from '../inputs/node-projection.ts';
import { FactStore } from '../model/fact-store.ts';
import { LOCAL } from '../model/facts.ts';
import { NodeKeeper } from './node-keeper.ts';
import { uplinkEffects } from './uplink/effects.ts';
import { RealNode } from './uplink/real-node.suite.ts';
import type { GatewayOptions } from './uplink/types.ts';
import { Uplink } from './uplink/uplink.ts';

const cluster = parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64' });
const GATEWAY: GatewayOptions = {
  mode: 'shared',
  interface: undefined,
  nextHops: [],
  vlanId: 0,
  allowNoUplink: false,
};

let node: RealNode;
let keeper: NodeKeeper | undefined;
let facts: FactStore;

beforeEach(async () => {
  facts = new FactStore();
  node = await RealNode.create();
  for (const command of [
    'link set eth0 up',
    'addr add 172.20.0.11/24 dev eth0',
    'addr add fd00:172:20::b/64 dev eth0 nodad',
    'route add default via 172.20.0.1 dev eth0',
  ]) {
    node.ip(command);
  }
});
afterEach(async () => {
  await keeper?.stop();
  await node?.[Symbol.asyncDispose]();
});

const nodeWith = (...addresses: readonly string[]): NodeProjection =>
  projectNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  } as Parameters<typeof projectNode>[0]);

const keep = (options: GatewayOptions = GATEWAY) => {
  const { session, replica } = node.database;
  const nodes = createStaticCache<NodeProjection>([['n1', nodeWith('172.20.0.11')]]);
  const effects = uplinkEffects({ session, replica, netlink: node.netlink });
  keeper = new NodeKeeper({
    node: 'n1',
    options,
    cluster,
    encapIps: [],
    uplink: new Uplink({ options, masqueradeSubnets: cluster.masqueradeSubnets }, effects),
    netlink: node.netlink,
    session,
    replica,
    nodes,
    onRepaired: () => undefined,
    onError: () => undefined,
    later: (retry) => setImmediate(retry),
  });
  keeper.start();
  keeper.feed(facts);
  return { nodes, keeper };
};

/** The fact becomes so without anybody asking: by event. */
const becomes = (check: () => void): Promise<void> =>
  eventually(async () => {
    await Promise.resolve();
    check();
  }, 30_000);
const gateway = () => facts.get('gateway', 'n1');

it('knows the gateway, and each change of its addresses, next hops and MAC', async () => {
  keep();
  await becomes(() =>
    expect(gateway()).toMatchObject({
      bridge: 'breth0',
      uplink: 'eth0',
      mac: '02:00:00:00:00:0b',
      addresses: ['172.20.0.11/24', 'fd00:172:20::b/64'],
      nextHops: ['172.20.0.1'],
    }),
  );
  expect(facts.get('hostAddresses', 'n1')).toEqual(['172.20.0.11/24', 'fd00:172:20::b/64']);
  await becomes(() => expect(node.ip('-o link show breth0')).toContain(',UP'));
  node.ip('-6 route add default via fd00:172:20::1 dev breth0');
  await becomes(() => expect(gateway()?.nextHops).toEqual(['172.20.0.1', 'fd00:172:20::1']));
  node.ip('route replace default via 172.20.0.9 dev breth0');
  await becomes(() => expect(gateway()?.nextHops[0]).toBe('172.20.0.9'));
  node.ip('addr add 172.20.5.5/24 dev breth0');
  await becomes(() => expect(facts.get('hostAddresses', 'n1')).toContain('172.20.5.5/24'));
  node.ip('addr add 10.60.0.2/24 dev breth0');
  node.ip('addr del 172.20.0.11/24 dev breth0');
  await becomes(() => expect(gateway()?.addresses[0]).toBe('172.20.5.5/24'));
  await node.ovs('set', 'Bridge', 'breth0', 'other_config:hwaddr="02:00:00:00:00:99"');
  await becomes(() => expect(gateway()?.mac).toBe('02:00:00:00:00:99'));
});

it('has everything again when somebody sets the bridge down and up', async () => {
  keep();
  await becomes(() => expect(gateway()?.bridge).toBe('breth0'));
  node.ip('-6 route add default via fd00:172:20::1 dev breth0');
  node.ip('route add 10.9.0.0/16 via 172.20.0.2 dev breth0');
  await becomes(() => expect(gateway()?.nextHops).toEqual(['172.20.0.1', 'fd00:172:20::1']));
  const moved = () => node.ovs('get', 'Bridge', 'breth0', 'external_ids:ovn-udn/moved');
  // Routes that are not the default ones are seen with the next event.
  node.ip('addr add 172.20.5.5/24 dev breth0');
  await eventually(async () => expect(await moved()).toContain('10.9.0.0/16'));
  await eventually(async () => expect(await moved()).toContain('172.20.5.5'));
  node.ip('link set breth0 down');
  node.ip('link set breth0 up');
  await becomes(() => {
    expect(node.ip('-6 route')).toContain('default via fd00:172:20::1 dev breth0');
    expect(node.ip('-4 route')).toContain('default via 172.20.0.1 dev breth0');
    expect(node.ip('-4 route')).toContain('10.9.0.0/16 via 172.20.0.2 dev breth0');
    expect(node.ip('-6 -o addr show dev breth0')).toContain('fd00:172:20::b/64');
  });
  await becomes(() => expect(gateway()?.nextHops).toEqual(['172.20.0.1', 'fd00:172:20::1']));
});

it('keeps the mapping beside those of others', async () => {
  keep();
  const mappings = () => node.database.replica.rows('Open_vSwitch').next().value?.external_ids['ovn-bridge-mappings'];
  await becomes(() => expect(mappings()).toBe('physnet:breth0'));
  await node.ovs('set', 'Open_vSwitch', '.', 'external_ids:ovn-bridge-mappings=other:br-other');
  await becomes(() => expect(mappings()).toBe('other:br-other,physnet:breth0'));
});

it('has the bridge again when somebody deletes it, and its port when somebody takes that away', async () => {
  keep();
  await becomes(() => expect(gateway()?.bridge).toBe('breth0'));
  await becomes(() => expect(node.ip('-4 -o addr show')).toContain('breth0'));
  await becomes(() => expect(node.ip('-4 route')).toContain('default via 172.20.0.1 dev breth0'));
  const indexOf = () => /^[0-9]+/.exec(node.ip('-o link show breth0'))?.[0];
  const index = indexOf();
  await node.ovs('del-br', 'breth0');
  await becomes(() => {
    expect(indexOf()).not.toBe(index);
    expect(node.ip('-4 route')).toContain('default via 172.20.0.1 dev breth0');
  });
  await node.ovs('del-port', 'breth0', 'eth0');
  await eventually(async () => expect(await node.ovs('list-ports', 'breth0')).toContain('eth0'));
  expect(gateway()).toMatchObject({ bridge: 'breth0', addresses: ['172.20.0.11/24', 'fd00:172:20::b/64'] });
});

it('knows where tunnels end, and whether packets fit', async () => {
  const { nodes, keeper: kept } = keep();
  await becomes(() => expect(facts.get('encapIps', LOCAL)).toEqual(['172.20.0.11']));
  await becomes(() => expect(gateway()?.bridge).toBe('breth0'));
  nodes.set('n1', nodeWith('172.20.0.77'));
  await becomes(() => expect(facts.get('encapIps', LOCAL)).toEqual(['172.20.0.77']));
  await becomes(() => expect(kept.problems()).toMatchObject([{ severity: 'warning', object: 'Node/n1' }]));
});

it('makes no bridge where gateways are disabled', async () => {
  const { keeper: kept } = keep({ ...GATEWAY, mode: 'disabled' });
  await becomes(() => expect(facts.get('hostAddresses', 'n1')).toContain('172.20.0.11/24'));
  expect([kept.identity.gateway, await node.ovs('list-br')]).toEqual(['disabled', '']);
});
