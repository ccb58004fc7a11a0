import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AtomType, Column } from '../schema/column.ts';
import { map, optional, scalar, set } from '../schema/column.ts';
import { decoderOf } from './decode.ts';
import { modified } from './difference.ts';
import { ElementIndex } from './element-index.ts';
import { encodeValue } from './encode.ts';
import { sameValue } from './equal.ts';
import { isMapValue, newEntries, type Scalar, type Value } from './value.ts';

const UUID = '36bef046-7da7-43a5-905a-c17899216fcb';

const atoms: Readonly<Record<AtomType, fc.Arbitrary<Scalar>>> = {
  string: fc.string(),
  integer: fc.maxSafeInteger(),
  real: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  boolean: fc.boolean(),
  uuid: fc.uuid(),
};

const types = fc.constantFrom(...(Object.keys(atoms) as AtomType[]));

/** A column and values of its type. */
const columns: fc.Arbitrary<{ column: Column; value: fc.Arbitrary<Value> }> = fc.oneof(
  types.map((type) => ({ column: scalar(type), value: atoms[type] })),
  types.map((type) => ({ column: optional(type), value: fc.option(atoms[type], { nil: undefined }) })),
  types.map((type) => ({ column: set(type), value: fc.uniqueArray(atoms[type]) })),
  fc.tuple(fc.constantFrom('string' as const, 'integer' as const), types).map(([key, type]) => ({
    column: map(key, type),
    value: fc.dictionary(key === 'string' ? fc.string() : fc.nat().map(String), atoms[type]),
  })),
);
const columnsWithValue = columns.chain(({ column, value }) => fc.record({ column: fc.constant(column), value }));

/** As the server would send it. */
const wire = (column: Column, value: Value): unknown => JSON.parse(JSON.stringify(encodeValue(column, value)));

describe('values', () => {
  it('are the same after a journey over the wire', () => {
    fc.assert(
      fc.property(columnsWithValue, ({ column, value }) => {
        const back = decoderOf(column)(wire(column, value));
        expect(sameValue(back, value) || Object.is(back, -0) || value === 0).toBe(true);
      }),
    );
  });

  it.each([
    [set('string'), 'a', ['a']],
    [set('uuid'), ['uuid', UUID], [UUID]],
    [set('integer'), ['set', []], []],
    [optional('string'), ['set', []], undefined],
    [optional('string'), ['set', ['a']], 'a'],
    [scalar('real'), 1.5, 1.5],
  ])('reads the short forms of sets: %j %j', (column, sent, value) => expect(decoderOf(column)(sent)).toEqual(value));

  it.each([
    [scalar('string'), 1],
    [scalar('uuid'), 'x'],
    [scalar('uuid'), ['named-uuid', 'x']],
    [optional('string'), ['set', ['a', 'b']]],
    [set('string'), ['set', [1]]],
    [map('string', 'string'), ['map', [['a']]]],
    [map('string', 'string'), ['set', []]],
  ])('of the wrong type are refused: %j %j', (column, sent) =>
    expect(() => decoderOf(column)(sent)).toThrow(expect.objectContaining({ code: 'ERR_OVSDB_PROTOCOL' })),
  );

  it.each([
    [scalar('integer'), 1.5],
    [scalar('integer'), 2 ** 53],
    [scalar('string'), undefined],
    [scalar('uuid'), 'not-a-uuid'],
    [set('string'), 'a'],
    [map('string', 'string'), ['a']],
    [scalar('real'), Number.NaN],
  ])('of the wrong type are not sent: %j %j', (column, value) =>
    expect(() => encodeValue(column, value)).toThrow(expect.objectContaining({ code: 'ERR_OVSDB_SCHEMA' })),
  );

  it('of maps have no keys but their own', () => {
    const value = decoderOf(map('string', 'string'))([
      'map',
      [
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ],
    ]);
    if (!isMapValue(value)) throw new Error('not a map');
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.values(value)).toEqual(['x', 'y']);
    expect(value['toString']).toBeUndefined();
  });
});

describe('modified', () => {
  const elements = new ElementIndex();
  const small = fc.uniqueArray(fc.nat(20).map(String), { maxLength: 20 });
  const large = fc.uniqueArray(fc.nat(500).map(String), { minLength: 100, maxLength: 300 });

  it('turns one set into the other by what is in only one of them', () => {
    fc.assert(
      fc.property(fc.oneof(small, large), fc.oneof(small, large), (before, after) => {
        const difference = [
          ...before.filter((it) => !after.includes(it)),
          ...after.filter((it) => !before.includes(it)),
        ];
        const { value, change } = modified([...before], difference, true, elements);
        expect(sameValue(value, after)).toBe(true);
        expect(
          sameValue(
            change?.added,
            after.filter((it) => !before.includes(it)),
          ),
        ).toBe(true);
        expect(
          sameValue(
            change?.removed,
            before.filter((it) => !after.includes(it)),
          ),
        ).toBe(true);
        for (const element of after) expect(elements.has(value as string[], element)).toBe(true);
        for (const element of change?.removed ?? []) expect(elements.has(value as string[], element)).toBe(false);
      }),
    );
  });

  it('changes large sets in place, and small ones never', () => {
    const large = Array.from({ length: 32 }, (_, index) => String(index));
    const changed = modified(large, ['0', 'new'], true, elements);
    expect(changed.value).toBe(large);
    expect(changed.change).toMatchObject({ added: ['new'], removed: ['0'] });
    expect(new Set(large)).toEqual(new Set([...Array.from({ length: 31 }, (_, index) => String(index + 1)), 'new']));
    const small = ['a', 'b'];
    expect(modified(small, ['a', 'c'], true, elements).value).toEqual(['b', 'c']);
    expect(small).toEqual(['a', 'b']);
  });

  it('turns one map into the other', () => {
    const entries = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.constantFrom('1', '2'));
    const plain = (it: Record<string, unknown>) => Object.assign(newEntries(), it) as Record<string, string>;
    fc.assert(
      fc.property(entries.map(plain), entries.map(plain), (before, after) => {
        const difference = newEntries();
        for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) difference[key] = before[key] ?? '';
        for (const key of Object.keys(after)) if (after[key] !== before[key]) difference[key] = after[key] ?? '';
        expect(sameValue(modified(before, difference, true, elements).value, after)).toBe(true);
      }),
    );
  });

  it('takes what is sent for a column of one element', () => {
    expect(modified('old', 'new', false, elements).value).toBe('new');
    expect(modified(['a'], ['b'], false, elements).value).toEqual(['b']);
  });
});
