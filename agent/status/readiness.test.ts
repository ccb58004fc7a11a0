import { expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { FactStore } from '../model/fact-store.ts';
import { nodeSubnetsId } from '../model/facts.ts';
import { type ReadinessSources, reasonsNotReady } from './readiness.ts';

const sources = (changes: Partial<ReadinessSources> = {}): ReadinessSources => {
  const facts = new FactStore();
  facts.set('nodeSubnets', nodeSubnetsId('node1', 'default'), [parseCidr('10.128.0.0/23')]);
  return {
    node: 'node1',
    inputs: { isSynced: () => true },
    facts,
    ports: { isReady: () => true },
    netlink: { oldestCallAge: () => undefined },
    isolation: { lackingOnNode: () => undefined },
    noFilters: undefined,
    encryption: { problems: () => [] },
    ...changes,
  };
};

it('pods can be added when nothing speaks against it', () => {
  expect(reasonsNotReady(sources())).toEqual([]);
});

it.each<[string, Partial<ReadinessSources>]>([
  ['the objects of the API server are not synced yet', { inputs: { isSynced: () => false } }],
  ['node node1 has no subnet of the default network yet', { facts: new FactStore() }],
  ['the Open_vSwitch database cannot be reached or has no bridge br-int', { ports: { isReady: () => false } }],
  ['the kernel does not answer netlink requests', { netlink: { oldestCallAge: () => 10_001 } }],
  ['the kernel has no nftables hook', { noFilters: 'the kernel has no nftables hook' }],
  [
    'processes of the node are not isolated from pods of primary networks: chain udn-isolation: not programmed yet',
    { isolation: { lackingOnNode: () => 'chain udn-isolation: not programmed yet' } },
  ],
  ['tunnels cannot be encrypted: x', { encryption: { problems: () => ['tunnels cannot be encrypted: x'] } }],
])('no pod can be added while %s', (reason, changes) => {
  expect(reasonsNotReady(sources(changes))).toEqual([reason]);
});
