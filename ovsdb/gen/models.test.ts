import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generateOvsdbModels } from './generate.ts';
import { generateModel } from './models.ts';

const SCHEMA = {
  name: 'Example',
  version: '1.2.3',
  tables: {
    Small_Table: {
      isRoot: true,
      maxRows: 1,
      indexes: [['name', 'tag']],
      columns: {
        name: { type: { key: { type: 'string', minLength: 1, maxLength: 63 } }, mutable: false },
        tag: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 1 } },
        kind: { type: { key: { type: 'string', enum: ['set', ['a', 'b']] }, min: 0, max: 4 } },
        parts: { type: { key: { type: 'uuid', refTable: 'Part' }, min: 1, max: 'unlimited' } },
        queues: {
          type: {
            key: 'integer',
            value: { type: 'uuid', refTable: 'Part', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
        seen: { type: 'boolean', ephemeral: true },
      },
    },
    Part: { columns: {} },
  },
};

it('generates types and a model', () => {
  const source = generateModel({ path: 'example.ovsschema', text: JSON.stringify(SCHEMA), typeName: 'Example' });
  expect(source).toBe(`// Generated from example.ovsschema by \`make gen\`. DO NOT EDIT.
import { map, optional, ref, scalar, set, weakRef } from '../schema/column.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A row of Example's table Part. */
export interface PartRow {
  readonly _uuid: Uuid;
}

/** A row of Example's table Small_Table. */
export interface SmallTableRow {
  readonly _uuid: Uuid;
  readonly kind: readonly ('a' | 'b')[];
  readonly name: string;
  readonly parts: readonly Uuid[];
  readonly queues: Readonly<Record<number, Uuid>>;
  readonly seen: boolean;
  readonly tag: number | undefined;
}

/** The tables of Example. */
export type Example = {
  readonly Part: PartRow;
  readonly Small_Table: SmallTableRow;
};

/** Example 1.2.3. */
export const example: DatabaseModel<Example> = {
  name: 'Example',
  version: '1.2.3',
  tables: {
    Part: {
      isRoot: false,
      indexes: [],
      columns: {
      },
    },
    Small_Table: {
      isRoot: true,
      maxRows: 1,
      indexes: [['name', 'tag']],
      columns: {
        kind: set('string', { max: 4 }),
        name: scalar({ type: 'string', minLength: 1, maxLength: 63 }, { immutable: true }),
        parts: set(ref('Part'), { min: 1 }),
        queues: map('integer', weakRef('Part')),
        seen: scalar('boolean', { ephemeral: true }),
        tag: optional('integer'),
      },
    },
  },
};
`);
});

it('gives the same for the same schemas, and what is committed', () => {
  const files = generateOvsdbModels();
  expect(generateOvsdbModels()).toEqual(files);
  for (const [path, content] of Object.entries(files)) expect(readFileSync(path, 'utf8')).toBe(content);
});
