/** With `--network-rendering on-demand` a node has nothing of a network that nothing here uses, and all of one that is used. */
import { expect, it } from 'vitest';
import type { LocalSettings } from '../model/view.ts';
import { TestCluster } from '../testing/cluster.ts';

const cluster = (networkRendering: LocalSettings['networkRendering']): TestCluster =>
  new TestCluster('n1', {}, { networkRendering })
    .node('n1', {
      id: 2,
      transit: ['100.88.0.2/16'],
      subnets: { default: ['10.128.0.0/24'], blue: ['10.1.0.0/24'] },
    })
    .node('n2', { id: 3, transit: ['100.88.0.3/16'], subnets: { default: ['10.128.1.0/24'], blue: ['10.1.1.0/24'] } })
    .gateway('n1', { addresses: ['172.30.0.2/24'], nextHops: ['172.30.0.1'] })
    .gateway('n2', { mac: '02:00:00:00:00:02', addresses: ['172.30.0.3/24'] })
    .namespace('t', true)
    .namespace('u', true)
    .network('blue', { id: 1, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 't', nad: 'net' })
    .network('green', {
      id: 2,
      topology: 'layer2',
      subnets: ['10.2.0.0/16'],
      namespace: 'u',
      nad: 'net',
      tunnelKeys: [500, 501],
    });

it('rows, flows, routes and nftables objects come and go with what uses a network', () => {
  const onDemand = cluster('on-demand');
  const always = JSON.stringify(cluster('always').render());
  expect(always).toMatch(/blue/);
  expect(always).toMatch(/green/);
  const without = JSON.stringify(onDemand.render());
  expect(without).not.toMatch(/blue|green|ovn-k8s-mp[12]\b/);
  for (const network of ['blue', 'green']) onDemand.facts.set('networkInUse', network, true);
  expect(JSON.stringify(onDemand.render())).toBe(always);
  for (const network of ['blue', 'green']) onDemand.facts.set('networkInUse', network, undefined);
  expect(JSON.stringify(onDemand.render())).toBe(without);
});
