/** An agent makes the gateway bridge of the node's only NIC, and gives it back. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, pod } from './support/cluster/manifests.ts';

const NODE = 'node-1';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-uplink', uplink: 'nic' });
  const objects = await sandbox.objects();
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    pod('red', 'a', NODE),
    pod('red', 'b', 'node-2'),
  ]);
  await Promise.all(['red/a', 'red/b'].map((key) => objects.wait('pod', key, 'ready')));
});
afterAll(() => sandbox?.down());

const onNode = async (...argv: string[]): Promise<string> => (await sandbox.node(NODE, argv)).stdout;

const addressesOf = async (link: string): Promise<string[]> =>
  JSON.parse(await onNode('ip', '-j', 'addr', 'show', 'dev', link))[0]
    .addr_info.filter(({ scope }: { scope: string }) => scope === 'global')
    .map(({ local, prefixlen }: { local: string; prefixlen: number }) => `${local}/${prefixlen}`)
    // The host's masquerade addresses are not the node's.
    .filter((address: string) => !/^(169\.254\.|fd69::)/.test(address))
    .sort();

const defaultRoutes = async (): Promise<string[]> => {
  const routes = [await onNode('ip', '-4', 'route'), await onNode('ip', '-6', 'route')].join('');
  return routes
    .split('\n')
    .filter((line) => line.startsWith('default'))
    .map((line) => line.trim().split(' metric')[0] ?? '');
};

const routesBy = (link: string): string[] => [
  `default via 172.20.0.1 dev ${link}`,
  `default via fd00:172:20::1 dev ${link}`,
];

const NODE_ADDRESSES = ['172.20.0.11/24', 'fd00:172:20::b/64'];

const podReaches = (from: string, to: string): Promise<unknown> =>
  eventually(async () => {
    const { stdout } = await sandbox.exec(to, ['ip', '-j', '-4', 'addr', 'show', 'ovn-udn1']);
    const address = JSON.parse(stdout)[0].addr_info[0].local;
    await sandbox.exec(from, ['curl', '-sfm2', `http://${address}:8080/hostname`]);
  }, 60_000);

const nodeReachesOutside = (): Promise<unknown> =>
  eventually(async () => {
    for (const ip of ['172.20.0.2', 'fd00:172:20::2', '172.20.0.12']) await onNode('ping', '-c1', '-W2', ip);
  }, 60_000);

const isMoved = (): Promise<void> =>
  eventually(async () => {
    expect([await addressesOf('breth0'), await addressesOf('eth0'), await defaultRoutes()]).toEqual([
      NODE_ADDRESSES,
      [],
      routesBy('breth0'),
    ]);
  }, 60_000);

describe('a node with one NIC', () => {
  it('has its addresses and routes on a bridge of it, and packets pass', async () => {
    await isMoved();
    await nodeReachesOutside();
    await podReaches('red/a', 'red/b');
  });

  it('keeps them when the agent is killed, and nothing of it changes when it starts again', async () => {
    const index = await onNode('cat', '/sys/class/net/breth0/ifindex');
    await sandbox.kill(NODE, 'agent', 'SIGKILL');
    await nodeReachesOutside();
    await podReaches('red/b', 'red/a');
    await isMoved();
    expect(await onNode('cat', '/sys/class/net/breth0/ifindex')).toBe(index);
  });

  it('gets the bridge back when somebody deletes it', async () => {
    const bridge = () => onNode('ovs-vsctl', 'get', 'Bridge', 'breth0', '_uuid');
    const before = await bridge();
    // The agent answers on its socket when it knows the node.
    await eventually(() => onNode('udnctl', 'networks'), 60_000);
    await onNode('ovs-vsctl', 'del-br', 'breth0');
    await eventually(async () => {
      expect(await bridge()).not.toBe(before);
      await nodeReachesOutside();
    }, 60_000);
    await isMoved();
    await podReaches('red/a', 'red/b');
  });

  it('has everything on the NIC again after cleanup', async () => {
    await sandbox.kill(NODE, 'agent', 'SIGSTOP');
    // In another folder, where neither its socket nor its lock is found.
    await onNode('udn-agent', 'cleanup', '--status-socket', '/run/another/none.sock');
    expect([await addressesOf('eth0'), await defaultRoutes()]).toEqual([NODE_ADDRESSES, routesBy('eth0')]);
    expect(await onNode('ovs-vsctl', 'show')).not.toContain('breth0');
    expect(await onNode('ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids')).not.toContain('physnet');
    await nodeReachesOutside();
  });
});
