import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalBut, jsonEqual } from '../json-equal.ts';
import type { JsonPatchOperation } from '../types.ts';
import { applyJsonPatch, asJsonPatch, JsonPatchError } from './json-patch.ts';
import { jsonPointer, pointerPath } from './json-pointer.ts';
import { applyMergePatch, composeMergePatches } from './merge-patch.ts';

describe('JSON pointers', () => {
  it('carry every name', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (path) => {
        expect(pointerPath(jsonPointer(path))).toEqual(path);
      }),
    );
    expect(jsonPointer(['metadata', 'annotations', 'k8s.ovn.org/pod~networks'])).toBe(
      '/metadata/annotations/k8s.ovn.org~1pod~0networks',
    );
  });

  it.each(['a', '/a~', '/~2'])('refuses %s', (text) => expect(pointerPath(text)).toBeUndefined());
});

describe('JSON patch', () => {
  // RFC 6902, appendix A.
  const cases: [string, unknown, JsonPatchOperation[], unknown][] = [
    ['A.1 adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
    [
      'A.2 adds an element',
      { foo: ['bar', 'baz'] },
      [{ op: 'add', path: '/foo/1', value: 'qux' }],
      { foo: ['bar', 'qux', 'baz'] },
    ],
    ['A.3 removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    [
      'A.4 removes an element',
      { foo: ['bar', 'qux', 'baz'] },
      [{ op: 'remove', path: '/foo/1' }],
      { foo: ['bar', 'baz'] },
    ],
    [
      'A.5 replaces',
      { baz: 'qux', foo: 'bar' },
      [{ op: 'replace', path: '/baz', value: 'boo' }],
      { baz: 'boo', foo: 'bar' },
    ],
    [
      'A.6 moves a value',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'A.7 moves an element',
      { foo: ['a', 'b', 'c', 'd'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['a', 'c', 'd', 'b'] },
    ],
    [
      'A.8 tests',
      { baz: 'qux', foo: ['a', 2, 'c'] },
      [{ op: 'test', path: '/foo/1', value: 2 }],
      { baz: 'qux', foo: ['a', 2, 'c'] },
    ],
    [
      'A.10 adds a nested object',
      { foo: 'bar' },
      [{ op: 'add', path: '/child', value: { a: {} } }],
      { foo: 'bar', child: { a: {} } },
    ],
    ['A.14 escapes', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
    ['A.16 appends', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
    ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['replaces an element', { a: [1, 2, 3] }, [{ op: 'replace', path: '/a/1', value: 9 }], { a: [1, 9, 3] }],
    ['copies', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
  ];

  it.each(cases)('%s', (_, document, operations, expected) => {
    const before = structuredClone(document);
    expect(applyJsonPatch(document, operations)).toEqual(expected);
    expect(document).toEqual(before);
  });

  it.each<[string, JsonPatchOperation]>([
    ['A.9 a failing test', { op: 'test', path: '/baz', value: 'bar' }],
    ['A.12 a missing parent', { op: 'add', path: '/no/bat', value: 'qux' }],
    ['A.15 a text that is no number', { op: 'test', path: '/n', value: '10' }],
    ['a missing member', { op: 'remove', path: '/no' }],
    ['a missing target', { op: 'replace', path: '/no', value: 1 }],
    ['an index beyond the end', { op: 'add', path: '/list/3', value: 1 }],
    ['an index with a leading zero', { op: 'remove', path: '/list/01' }],
    ['a member of a text', { op: 'add', path: '/baz/x', value: 1 }],
    ['a pointer that is none', { op: 'remove', path: 'baz' }],
    ['a member of the prototype', { op: 'remove', path: '/toString' }],
  ])('refuses %s', (_, operation) => {
    expect(() => applyJsonPatch({ baz: 'qux', n: 10, list: [1, 2] }, [operation])).toThrow(JsonPatchError);
  });

  it('is recognised', () => {
    expect(asJsonPatch([{ op: 'remove', path: '/a' }])).toHaveLength(1);
    for (const value of [
      {},
      [{}],
      [{ op: 'add', path: '/a' }],
      [{ op: 'move', path: '/a' }],
      [{ op: 'spam', path: '' }],
    ]) {
      expect(asJsonPatch(value)).toBeUndefined();
    }
  });
});

describe('merge patch', () => {
  // RFC 7386, appendix A.
  it.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j and %j make %j', (target, patch, expected) => expect(applyMergePatch(target, patch)).toEqual(expected));

  const key = fc.constantFrom('a', 'b', 'c');
  const leaf = fc.constantFrom<unknown>(null, 1, 'x', [1]);
  const inner = fc.dictionary(key, leaf, { maxKeys: 3 });
  const middle = fc.dictionary(key, fc.oneof(leaf, inner), { maxKeys: 3 });
  const value = fc.dictionary(key, fc.oneof(leaf, middle), { maxKeys: 3 });

  it('one after the other is what the composed one is', () => {
    let composable = 0;
    fc.assert(
      fc.property(value, value, value, (document, first, second) => {
        const composed = composeMergePatches(first, second);
        if (composed === undefined) return;
        composable += 1;
        const expected = applyMergePatch(applyMergePatch(document, first), second);
        expect(applyMergePatch(document, composed)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
    expect(composable).toBeGreaterThan(300);
  });

  it('can not be composed where an object follows a removal', () => {
    expect(composeMergePatches({ a: null }, { a: { b: 1 } })).toBeUndefined();
    expect(composeMergePatches({ a: { b: null } }, { a: { c: 1 } })).toEqual({ a: { b: null, c: 1 } });
  });
});

describe('jsonEqual', () => {
  it('agrees with itself and reports differences', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(jsonEqual(json, structuredClone(json))).toBe(true);
      }),
    );
    const unequal: [unknown, unknown][] = [
      [1, 2],
      [[], {}],
      [[1], [1, 2]],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: 1, b: 2 }, { a: 1 }],
      [null, {}],
      [new Map([['a', 1]]), new Map([['a', 2]])],
      [new Set([1]), new Set([2])],
      [new Set([1]), new Map()],
      [1n, 2n],
    ];
    for (const [a, b] of unequal) expect([jsonEqual(a, b), jsonEqual(b, a)]).toEqual([false, false]);
    expect(jsonEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(jsonEqual(new Map([['a', [1]]]), new Map([['a', [1]]]))).toBe(true);
  });
});

it('equalBut compares all fields but those that it is given to leave out', () => {
  const same = equalBut<{ a: unknown; b?: unknown; version: number }>('version');
  expect(same({ a: [1], version: 1 }, { a: [1], b: undefined, version: 2 })).toBe(true);
  expect(same({ a: [1], version: 1 }, { a: [2], version: 1 })).toBe(false);
  expect(same({ a: 1, version: 1 }, { a: 1, b: 0, version: 1 })).toBe(false);
  expect(same({ a: 1, b: 0, version: 1 }, { a: 1, version: 1 })).toBe(false);
});
