import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bridgeItemKey } from '../../../datapath/openflow/types.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };

const flowsOf = (cluster: TestCluster): string[] => [...(cluster.render().openflow['br-ex'] ?? [])];
const count = (variant: Variant): number => flowsOf(workedCluster(variant)).length;
const perNetwork = (variant: Variant): number => count(variant) - flowsOf(emptyCluster(variant)).length;

describe('the number of flows', () => {
  /** In any mode and with any families: a node may have hundreds of networks. */
  const MOST = 34;

  it.each([
    ['shared', 'ipv4', 10],
    ['shared', 'ipv6', 10],
    ['shared', 'dual', 15],
    ['local', 'ipv4', 10],
    ['local', 'ipv6', 10],
    ['local', 'dual', 14],
  ] as const)('of a network in %s mode, %s', (mode, family, expected) => {
    for (const topology of ['layer3', 'layer2'] as const) {
      const number = perNetwork({ topology, mode, family });
      expect(number).toBeLessThanOrEqual(MOST);
      expect(number, 'docs/datapath.md says so, too').toBe(expected);
    }
  });

  it('of a second network is the same, and what is there stays as it is', () => {
    for (const mode of ['shared', 'local'] as const) {
      for (const topology of ['layer3', 'layer2'] as const) {
        const variant: Variant = { topology, mode, family: 'dual' };
        const one = flowsOf(workedCluster(variant));
        const two = flowsOf(addTenant(workedCluster(variant), 'green', 2, variant));
        expect(two.length - one.length).toBe(perNetwork(variant));
        expect(one.filter((flow) => !two.includes(flow))).toEqual([]);
      }
    }
  });

  it('of a network is the same whatever other networks and nodes there are', () => {
    const many = addTenant(emptyCluster(DUAL), 'n2', 2, DUAL);
    for (let id = 3; id < 40; id += 1) addTenant(many, `n${id}`, id, DUAL);
    for (let node = 3; node < 30; node += 1) many.node(`node${node}`, { id: node + 1 });
    const before = flowsOf(many).length;
    expect(flowsOf(addTenant(many, 'blue', 1, DUAL)).length - before).toBe(perNetwork(DUAL));
  });

  it('of path MTU messages is one for each address of other nodes, whatever networks there are', () => {
    const messages = (cluster: TestCluster) => flowsOf(cluster).filter((flow) => flow.startsWith('cookie=0x304,'));
    expect(messages(workedCluster(DUAL))).toEqual(messages(emptyCluster(DUAL)));
    expect(messages(workedCluster(DUAL))).toEqual([
      'cookie=0x304, table=0, priority=700, icmp,nw_dst=172.30.0.3,icmp_type=3,icmp_code=4, actions=drop',
      'cookie=0x304, table=0, priority=700, icmp6,ipv6_dst=fd00:30::3,icmp_type=2,icmp_code=0, actions=drop',
    ]);
    expect(messages(workedCluster({ ...DUAL, mode: 'local' }))).toEqual([]);
  });
});

it('other networks come and go without a change to anything of a network or the node', () => {
  const tenants = fc.uniqueArray(fc.integer({ min: 2, max: 4000 }), { minLength: 1, maxLength: 5 });
  const variant = fc.record({
    topology: fc.constantFrom('layer2', 'layer3'),
    mode: fc.constantFrom('shared', 'local'),
    family: fc.constantFrom('ipv4', 'ipv6', 'dual'),
  }) as fc.Arbitrary<Variant>;
  fc.assert(
    fc.property(variant, variant, tenants, (own, others, ids) => {
      const cluster = workedCluster(own);
      const keyed = () => {
        cluster.render();
        const items = cluster.sinks.openflow.all();
        return new Map(items.map((item) => [bridgeItemKey(item), item]));
      };
      const before = keyed();
      for (const id of ids) addTenant(cluster, `n${id}`, id, { ...others, family: own.family });
      const during = keyed();
      for (const [key, item] of before) expect(during.get(key)).toEqual(item);
      for (const id of ids) cluster.facts.set('network', `n${id}`, undefined);
      expect(keyed()).toEqual(before);
    }),
    { numRuns: 25 },
  );
});
