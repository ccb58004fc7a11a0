import { expect, it } from 'vitest';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import { rowRef } from '../types.ts';
import { fewerOf } from './batch.ts';
import { type Fragment, pod, SWITCH, startWorld } from './world.suite.ts';

const acl = (name: string): Fragment => ({
  rows: [
    {
      ...{ table: 'ACL', key: name },
      columns: { name, action: 'drop', direction: 'to-lport', match: '1', priority: 1 },
    },
  ],
  members: [{ table: 'Logical_Switch', row: 's', column: 'acls', value: rowRef(name) }],
});

const groupOf = (owner: string): string | undefined => /^(g\d)\//.exec(owner)?.[1];

it('writes what one group wants by one transaction, however large, and others by small ones', async () => {
  const seen: string[] = [];
  const { database, desired, reconciler, events } = await startWorld(ovnNorthbound, {
    ...{ maxOperations: 10, groupOf },
    wrap: (session) => ({
      ...{ transact: async (operations) => session.transact(operations).finally(note) },
      reconnect: (error) => session.reconnect(error),
    }),
  });
  function note(): void {
    const all = database.rows('ACL').map(({ name }) => String(name));
    for (const group of ['g1', 'g2']) {
      const own = all.filter((one) => one.startsWith(group)).map((one) => one.split('-')[1]);
      seen.push(`${group} ${own.length} ${[...new Set(own)].join()}`);
    }
  }
  const set = (group: string, generation: string, count: number): void => {
    for (let at = 0; at < count; at += 1) {
      const owner = `${group}/${generation}${at}`;
      desired.set(owner, acl(`${group}-${generation}-${at}`));
    }
  };
  desired.set('net', SWITCH);
  for (let at = 0; at < 15; at += 1) {
    desired.set(`pod/${at}`, pod(`p${at}`));
    desired.set(`g1/a${at}`, acl(`g1-a-${at}`));
    desired.set(`g2/a${at}`, acl(`g2-a-${at}`));
  }
  await reconciler.whenIdle();
  for (let at = 0; at < 15; at += 1) desired.delete(`g1/a${at}`);
  set('g1', 'b', 25);
  await reconciler.whenIdle();
  expect(database.rows('ACL').length).toBe(40);
  expect(new Set(seen)).toEqual(new Set(['g1 0 ', 'g1 15 a', 'g1 25 b', 'g2 0 ', 'g2 15 a']));
  const sizes = events.flatMap((event) => (event.kind === 'committed' ? [event.operations] : []));
  expect(sizes.filter((size) => size > 10).length).toBe(3);
});

it('takes a part of owners that has whole groups', () => {
  const fewer = (text: string) => fewerOf(text.split(' '), groupOf)?.join(' ');
  expect(fewer('a b c d')).toBe('a b');
  expect(fewer('a g1/1 g1/2 b')).toBe('a');
  expect(fewer('g1/1 g1/2 g1/3 b')).toBe('g1/1 g1/2 g1/3');
  expect(fewer('g1/1 g1/2 g2/1 g2/2')).toBe('g1/1 g1/2');
  expect(fewer('g1/1 g1/2')).toBe(undefined);
  expect(fewer('a')).toBe(undefined);
});
