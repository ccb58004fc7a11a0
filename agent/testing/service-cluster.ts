/** A node with three networks, for tests of Services. */
import { type GatewayInput, TestCluster } from './cluster.ts';

const GATEWAY: GatewayInput = { addresses: ['172.30.0.2/24', 'fd00:172::2/64'], nextHops: ['172.30.0.1'] };

/** Tenant `red` has a layer-3 network, `green` one of layer 2, and `plain` none; the node is in zone `east`. */
export const serviceCluster = (gateway: Partial<GatewayInput> = {}): TestCluster =>
  new TestCluster('node1')
    .node('node1', {
      id: 2,
      transit: ['100.88.0.2/16', 'fd97::2/64'],
      subnets: { default: ['10.128.0.0/23'], red_net: ['10.70.0.0/24', 'fd00:70::/64'] },
      zone: 'east',
    })
    .gateway('node1', { ...GATEWAY, ...gateway })
    .namespace('plain')
    .namespace('red', true)
    .namespace('green', true)
    .network('red_net', {
      id: 1,
      topology: 'layer3',
      subnets: ['10.70.0.0/16', 'fd00:70::/48'],
      namespace: 'red',
      nad: 'net',
    })
    .network('green_net', {
      id: 2,
      topology: 'layer2',
      subnets: ['10.71.0.0/16'],
      namespace: 'green',
      nad: 'net',
      tunnelKeys: [500, 501],
    });
