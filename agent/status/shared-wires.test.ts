import { expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { FactStore } from '../model/fact-store.ts';
import type { NetworkFact } from '../model/facts.ts';
import { problemsOfWires } from './shared-wires.ts';

type Localnet = readonly [name: string, physical: string, subnet: string, vlanId?: number];

const messages = (bridges: Readonly<Record<string, string>>, localnets: readonly Localnet[]) => {
  const facts = new FactStore();
  for (const [name, bridge] of Object.entries(bridges)) facts.set('physicalBridge', name, bridge);
  for (const [name, physical, subnet, vlanId] of localnets)
    facts.set('network', name, {
      ...{ name, topology: 'localnet', role: 'secondary', subnets: [{ cidr: parseCidr(subnet) }] },
      physical: { name: physical, ...(vlanId !== undefined && { vlanId }) },
    } as unknown as NetworkFact);
  return problemsOfWires('n1', facts).map(({ object, message }) => `${object}: ${message}`);
};

it('names localnets of two physical networks that are one wire, and whether addresses can be the same', () => {
  expect(
    messages({ dc: 'br-dc', lab: 'br-dc', other: 'br-other' }, [
      ['b', 'lab', '10.30.0.0/25'],
      ['a', 'dc', '10.30.0.0/24'],
      ['c', 'dc', '10.31.0.0/24'],
      ['d', 'other', '10.30.0.0/24'],
      ['e', 'lab', '10.32.0.0/24', 7],
      ['f', 'dc', '10.33.0.0/24', 7],
      ['g', 'dc', '10.33.0.0/24', 8],
    ]),
  ).toEqual([
    'Node/n1: networks a (physical network dc), b (physical network lab), c (physical network dc) are one wire here: bridge br-dc, untagged; ' +
      'pods of a and b can get the same addresses, as nothing compares these networks',
    'Node/n1: networks e (physical network lab), f (physical network dc) are one wire here: bridge br-dc, VLAN 7',
  ]);
});

it.each<[string, Readonly<Record<string, string>>]>([
  ['each name has its bridge', { dc: 'br-dc', lab: 'br-lab' }],
  ['one is not mapped', { dc: 'br-dc' }],
])('says nothing where %s', (_, bridges) => {
  const both = [['a', 'dc', '10.30.0.0/24'] as const, ['b', 'lab', '10.30.0.0/24'] as const];
  expect(messages(bridges, both)).toEqual([]);
});
