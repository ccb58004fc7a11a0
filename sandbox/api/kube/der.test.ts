import { expect, it } from 'vitest';
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts';

it.each([
  ['a short sequence', sequence(boolean(true), boolean(false)), '30060101ff010100'],
  ['a set', setOf(boolean(true)), '31030101ff'],
  ['zero', integer(Buffer.of(0)), '020100'],
  ['a number without its zeros', integer(Buffer.of(0, 0, 5)), '020105'],
  ['a number that would look negative', integer(Buffer.of(0x80)), '02020080'],
  ['an identifier', objectIdentifier('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
  ['a bit string', bitString(Buffer.of(4), 2), '03020204'],
  ['an octet string', octetString(Buffer.of(1, 2)), '04020102'],
  ['text', utf8String('é'), '0c02c3a9'],
  ['a time', time(new Date('2026-01-02T03:04:05Z')), `170d${Buffer.from('260102030405Z').toString('hex')}`],
  ['a late time', time(new Date('2050-01-02T03:04:05Z')), `180f${Buffer.from('20500102030405Z').toString('hex')}`],
  ['an explicit tag', explicit(3, boolean(true)), 'a3030101ff'],
  ['an implicit tag', implicit(7, Buffer.of(127, 0, 0, 1)), '87047f000001'],
])('%s', (_, encoded, hex) => expect(encoded.toString('hex')).toBe(hex));

it.each([
  [127, '047f'],
  [128, '048180'],
  [256, '04820100'],
  [70_000, '0483011170'],
])('a content of %i bytes begins with %s', (length, head) => {
  const encoded = octetString(Buffer.alloc(length));
  expect(encoded.toString('hex', 0, encoded.length - length)).toBe(head);
});
