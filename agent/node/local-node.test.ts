import { describe, expect, it } from 'vitest';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import { awaitLocalNode } from './local-node.ts';

const nodeWith = (...addresses: readonly string[]): NodeProjection => ({
  createdAt: '',
  uid: 'u',
  fact: {
    name: 'node-1',
    id: undefined,
    chassisId: undefined,
    encapIps: [],
    transitAddresses: [],
    gatewayMtuSupport: true,
  },
  subnets: new Map(),
  internalIps: addresses.map((address) => parseIp(address)),
  gateway: undefined,
  hostAddresses: [],
  published: {},
  peer: { labels: {}, ips: [] },
  conditions: {},
  problems: [],
});

const vswitch = {
  whenSynced: async () => {},
  rows: () => [{ external_ids: { 'system-id': 'chassis-1' } }],
  onUpdate: () => () => {},
} as unknown as VswitchReplica;

const options = (nodes: ReturnType<typeof createStaticCache<NodeProjection>>, encapIps: readonly Ip[] = []) => ({
  name: 'node-1',
  encapIps,
  nodes,
  vswitch,
  waiting: () => {},
});

describe('awaitLocalNode', () => {
  it('ends tunnels at one address of a dual-stack node', async () => {
    const nodes = createStaticCache([['node-1', nodeWith('172.20.0.11', 'fd00:172:20::b')]]);
    expect(await awaitLocalNode(options(nodes), AbortSignal.timeout(1000))).toEqual({
      name: 'node-1',
      chassisId: 'chassis-1',
      encapIps: ['172.20.0.11'],
    });
  });

  it('ends them where the option says', async () => {
    const nodes = createStaticCache([['node-1', nodeWith('172.20.0.11')]]);
    const encapIps = [parseIp('10.0.0.1'), parseIp('fd00::1')];
    expect((await awaitLocalNode(options(nodes, encapIps), AbortSignal.timeout(1000))).encapIps).toEqual(encapIps);
  });

  it('waits for the node to have an address', async () => {
    const nodes = createStaticCache<NodeProjection>([['node-1', nodeWith()]]);
    const found = awaitLocalNode(options(nodes), AbortSignal.timeout(1000));
    nodes.set('node-1', nodeWith('fd00:172:20::b'));
    expect((await found).encapIps).toEqual(['fd00:172:20::b']);
  });
});
