import { expect, it } from 'vitest';
import { differenceOf } from './subset.ts';

const APPLIED = {
  names: { kind: 'A', shortNames: ['a', 'b'] },
  versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } } }],
};

it('what a server adds is no difference', () => {
  const there = {
    conversion: { strategy: 'None' },
    names: { ...APPLIED.names, singular: 'a', listKind: 'AList' },
    versions: [{ ...APPLIED.versions[0], deprecated: false }],
  };
  expect(differenceOf(APPLIED, there, 'spec')).toBeUndefined();
});

it.each([
  ['another value', { ...APPLIED, names: { ...APPLIED.names, kind: 'B' } }, 'spec.names.kind'],
  ['no value', { versions: APPLIED.versions }, 'spec.names'],
  ['one more of a list', { ...APPLIED, names: { kind: 'A', shortNames: ['a', 'b', 'c'] } }, 'spec.names.shortNames'],
  [
    'another element of a list',
    { ...APPLIED, names: { kind: 'A', shortNames: ['a', 'c'] } },
    'spec.names.shortNames[1]',
  ],
  [
    'a schema with one more field, which this version does not know',
    {
      ...APPLIED,
      versions: [
        {
          name: 'v1',
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } },
        },
      ],
    },
    'spec.versions[0].schema.openAPIV3Schema',
  ],
  ['something else', 'text', 'spec'],
])('%s is one', (_, there, path) => expect(differenceOf(APPLIED, there, 'spec')).toBe(path));
