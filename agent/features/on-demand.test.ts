/** With `--network-rendering on-demand` a node has nothing of a network that nothing here uses, and all of one that is used. */
import { describe, expect, it } from 'vitest';
import type { LocalSettings } from '../model/view.ts';
import { GRACE_MS, TestCluster } from '../testing/cluster.ts';

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

describe('a network is used by', () => {
  const RED = { default: { ips: ['10.128.0.5/24'] }, 't/net': { ips: ['10.1.0.5/24'] } };
  const here = (it: TestCluster): string[] => [...it.facts.ids('networkInUse')];

  it.each([
    ['a pod of its namespace', { node: 'n1', networks: RED }, ['blue']],
    ['one that has no addresses yet', { node: 'n1', networks: {} }, ['blue']],
    ['a host-network pod of its namespace', { node: 'n1', networks: {}, hostNetwork: true }, ['blue']],
    ['no pod of another node', { node: 'n2', networks: RED }, []],
    ['no host-network pod of another node', { node: 'n2', networks: {}, hostNetwork: true }, []],
    ['none that has finished', { node: 'n1', networks: RED, finished: true }, []],
    ['no host-network pod that has finished', { node: 'n1', networks: {}, hostNetwork: true, finished: true }, []],
  ] as const)('%s', (_, input, desired) => {
    const it = cluster('on-demand').pod('t/a', input);
    it.render();
    expect(here(it)).toEqual(desired);
  });

  it('no host-network pod of a namespace without the label', () => {
    const it = cluster('on-demand').namespace('t', false).pod('t/a', { node: 'n1', networks: {}, hostNetwork: true });
    it.render();
    expect(here(it)).toEqual([]);
  });

  it('a host-network pod that finds its network in the same flush, and keeps it for a while', async () => {
    const it = cluster('on-demand');
    const without = JSON.stringify(it.render());
    it.facts.set('podCgroup', 'uid-a', { path: 'kubepods/pod1', level: 2 });
    it.pod('t/a', { node: 'n1', networks: {}, hostNetwork: true });
    const document = JSON.stringify(it.render());
    expect(document).toContain('kubepods/pod1');
    expect(document).toContain('blue_ovn_cluster_router');
    expect(document).not.toContain('green');
    it.facts.set('pod', 't/a', undefined);
    it.render();
    await it.clock.advance(GRACE_MS - 1);
    expect(here(it)).toEqual(['blue']);
    await it.clock.advance(1);
    it.facts.set('podCgroup', 'uid-a', undefined);
    expect(JSON.stringify(it.render())).toBe(without);
  });
});
