import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { schemaPath } from '../testing/schemas.ts';
import { map, optional, ref, scalar, set, weakRef } from './column.ts';
import { columnModel, type DatabaseModel } from './model.ts';
import { parseSchema } from './parse.ts';
import { supportOf } from './support.ts';

const tableOf = (columns: Record<string, unknown>, rest: object = {}) =>
  parseSchema({ name: 'D', version: '1.0.0', tables: { T: { columns, ...rest } } }).tables['T'];

describe('parseSchema', () => {
  it.each([
    ['string', scalar('string')],
    [{ key: 'integer', min: 0 }, optional('integer')],
    [{ key: { type: 'uuid', refTable: 'U' }, min: 0, max: 'unlimited' }, set(ref('U'))],
    [{ key: { type: 'uuid', refTable: 'U', refType: 'weak' }, min: 1, max: 4 }, set(weakRef('U'), { min: 1, max: 4 })],
    [{ key: 'string', value: 'string', min: 0, max: 'unlimited' }, map('string', 'string')],
    [{ key: { type: 'string', enum: ['set', ['a', 'b']] } }, scalar({ type: 'string', enum: ['a', 'b'] })],
    [{ key: { type: 'string', enum: 'a' } }, scalar({ type: 'string', enum: ['a'] })],
  ])('reads the type %j', (type, column) => expect(tableOf({ c: { type } })?.columns['c']).toEqual(column));

  it('reads what a column and a table are besides', () => {
    const table = tableOf({ c: { type: 'string', ephemeral: true, mutable: false } }, { indexes: [['c']], maxRows: 1 });
    expect(table).toEqual({
      isRoot: true,
      indexes: [['c']],
      maxRows: 1,
      columns: { c: scalar('string', { ephemeral: true, immutable: true }) },
    });
  });

  it.each([
    [null, 'schema'],
    [{ name: 'D', tables: { T: {} } }, 'T.columns'],
    [{ name: 'D', tables: { T: { columns: { c: { type: 'text' } } } } }, 'T.c'],
    [{ name: 1, tables: {} }, 'name'],
  ])('says what is wrong in %j', (schema, path) => expect(() => parseSchema(schema)).toThrow(path));

  it('agrees with the generated models', () => {
    const parsed = parseSchema(JSON.parse(readFileSync(schemaPath('ovn-northbound'), 'utf8')));
    const model = ovnNorthbound as unknown as DatabaseModel;
    expect(Object.keys(model.tables).sort()).toEqual(Object.keys(parsed.tables).sort());
    expect(columnModel(model, 'Logical_Switch', 'ports')).toEqual(columnModel(parsed, 'Logical_Switch', 'ports'));
    expect(model.tables['Logical_Switch_Port']).toMatchObject({ isRoot: false, indexes: [['name']] });
  });
});

describe('supportOf', () => {
  const model = (columns: Record<string, unknown>): DatabaseModel =>
    parseSchema({ name: 'D', tables: { T: { columns } } });
  const of = (server: Record<string, unknown>) =>
    supportOf(
      model({ set: { type: { key: 'string', min: 0, max: 'unlimited' } }, one: { type: 'string' } }),
      model(server),
      new Map([
        ['T', ['set', 'one']],
        ['U', ['x']],
      ]),
    );

  it('leaves out what the server has not, or has of a type that cannot be read', () => {
    const set = { type: { key: 'string', min: 0, max: 'unlimited' } };
    expect(of({ set, one: { type: 'string' }, more: { type: 'string' } }).unsupported).toEqual([{ table: 'U' }]);
    expect(of({ set, one: { type: 'integer' } }).unsupported).toEqual([{ table: 'T', column: 'one' }, { table: 'U' }]);
    expect(of({ set, one: { type: { key: 'string', min: 0 } } }).unsupported).toContainEqual({
      table: 'T',
      column: 'one',
    });
    expect(of({ set: { type: 'string' }, one: { type: 'string' } }).tables.get('T')).toEqual(new Set(['set', 'one']));
  });
});
