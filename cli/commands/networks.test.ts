import { expect, it } from 'vitest';
import type { NetworkStatus } from '../../api/agent-status.ts';
import { listNetworks } from './networks.ts';

const network = (name: string, nads: string[]): NetworkStatus => ({
  ...{ name, nads, id: 1, topology: 'layer3', role: 'primary', mtu: 1400, pods: 0 },
  ...{ subnets: [], nodeSubnets: [], state: 'ready' },
});
const NETWORKS = [
  network('default', []),
  network('red_net', ['red/net']),
  network('cluster_udn_shop', ['blue/shop', 'red/shop']),
  network('red2_net', ['red2/net']),
];

it.each([
  [undefined, ['default', 'red_net', 'cluster_udn_shop', 'red2_net']],
  ['red', ['red_net', 'cluster_udn_shop']],
  ['nowhere', []],
])('lists networks of namespace %s', async (namespace, names) => {
  const { tables } = await listNetworks({ networks: () => Promise.resolve(NETWORKS) }, { namespace });
  expect(tables?.[0]?.rows.map(([name]) => name)).toEqual(names);
});
