import { expect, it } from 'vitest';
import { ownedAlone } from './sole-owner.ts';

const labels = (...names: string[]) => ({
  'f:metadata': { 'f:labels': Object.fromEntries(['.', ...names.map((name) => `f:${name}`)].map((key) => [key, {}])) },
});
const PATH = ['f:metadata', 'f:labels'];

it('has the keys of all entries of the manager, and none of others', () => {
  const entries = [
    { manager: 'me', operation: 'Update', fieldsV1: labels('created', 'both') },
    { manager: 'me', operation: 'Apply', fieldsV1: labels('applied') },
    { manager: 'other', operation: 'Update', fieldsV1: labels('theirs') },
    { manager: 'other', operation: 'Apply', fieldsV1: labels('both') },
  ] as const;
  expect(ownedAlone(entries, 'me', PATH)).toEqual(['f:created', 'f:applied']);
  expect(ownedAlone(entries, 'nobody', PATH)).toEqual([]);
});

it('has the items of a list by their keys', () => {
  const item = 'k:{"uid":"u-1"}';
  const fieldsV1 = { 'f:metadata': { 'f:ownerReferences': { '.': {}, [item]: {} } } };
  expect(ownedAlone([{ manager: 'me', fieldsV1 }], 'me', ['f:metadata', 'f:ownerReferences'])).toEqual([item]);
});

it.each([[undefined], [{}], [{ 'f:metadata': {} }], [{ 'f:metadata': { 'f:labels': 1 } }]])(
  'has none of %j',
  (fieldsV1) => expect(ownedAlone([{ manager: 'me', fieldsV1 }], 'me', PATH)).toEqual([]),
);
