import { expect, it } from 'vitest';
import { FactStore } from '../model/fact-store.ts';
import { followPhysicalNetworks } from './physical-networks.ts';
import { bridgesOf } from './uplink/bridge-mappings.ts';

type Replica = Parameters<typeof followPhysicalNetworks>[1];

/** A database whose mappings and bridges tests set. */
const setUp = () => {
  const facts = new FactStore();
  const bridges = new Set<string>();
  const listeners = new Set<(update: { kind: string; changes: { table: string }[] }) => void>();
  let mappings: string | undefined;
  const replica = {
    rows: () => [{ external_ids: mappings === undefined ? {} : { 'ovn-bridge-mappings': mappings } }].values(),
    findOne: (_table: string, _index: string, name: string) => (bridges.has(name) ? { name } : undefined),
    onUpdate: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Replica;
  const changed = (table: string): void => {
    for (const listener of listeners) listener({ kind: 'changed', changes: [{ table }] });
  };
  return {
    ...{ facts, bridges, changed, replica },
    map: (text: string | undefined) => {
      mappings = text;
      changed('Open_vSwitch');
    },
  };
};

it('follows mappings and bridges by event, and others’ entries are as good as ours', () => {
  const { facts, bridges, changed, replica, map } = setUp();
  const end = followPhysicalNetworks(facts, replica);
  const known = () => [...facts.ids('physicalBridge')].map((id) => [id, facts.get('physicalBridge', id)].join(':'));
  bridges.add('br-ex');
  map('physnet:br-ex,dc:br-dc');
  expect(known()).toEqual(['physnet:br-ex']);
  bridges.add('br-dc');
  changed('Interface');
  expect(known()).toEqual(['physnet:br-ex']);
  changed('Bridge');
  expect(known()).toEqual(['physnet:br-ex', 'dc:br-dc']);
  map('physnet:br-ex,dc:br-ex');
  expect(known()).toEqual(['physnet:br-ex', 'dc:br-ex']);
  map(undefined);
  expect(known()).toEqual([]);
  end();
  map('physnet:br-ex');
  expect(known()).toEqual([]);
});

it.each([
  ['physnet:br-ex, dc:br-dc', { physnet: 'br-ex', dc: 'br-dc' }],
  ['dc:br-a,dc:br-b', { dc: 'br-a' }],
  ['nothing,:br-ex,', {}],
])('reads %s', (text, expected) => {
  expect(Object.fromEntries(bridgesOf(text))).toEqual(expected);
});
