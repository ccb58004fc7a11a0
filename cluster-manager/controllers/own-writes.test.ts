import { expect, it } from 'vitest';
import { createOwnWrites } from './own-writes.ts';

it('a write is under way until the mirror shows its version', () => {
  const writes = createOwnWrites();
  writes.note('net', 'status', 'ready', '100');
  expect(writes.underWay('net', 'status', '99')).toBe('ready');
  expect(writes.underWay('net', 'status', '100')).toBeUndefined();
});

it('once it was shown it is known no more', () => {
  const writes = createOwnWrites();
  writes.note('net', 'status', 'ready', '100');
  writes.underWay('net', 'status', '101');
  expect(writes.underWay('net', 'status', '99')).toBeUndefined();
});

it.each([
  ['another part', 'net', 'usage'],
  ['another object', 'other', 'status'],
])('%s is not under way', (_, key, part) => {
  const writes = createOwnWrites();
  writes.note('net', 'status', 'ready', '100');
  expect(writes.underWay(key, part, '99')).toBeUndefined();
});

it('nothing is known of an object that is gone, nor of versions that are no numbers', () => {
  const writes = createOwnWrites();
  writes.note('net', 'status', 'ready', '100');
  writes.forget('net');
  expect(writes.underWay('net', 'status', '99')).toBeUndefined();
  writes.note('net', 'status', 'ready', 'b');
  expect(writes.underWay('net', 'status', 'a')).toBeUndefined();
});
