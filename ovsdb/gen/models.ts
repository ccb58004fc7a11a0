/** Turns a schema into a TypeScript module: the type of each table's rows, and the model that the client works with. */
import type { Base, Column } from '../schema/column.ts';
import type { DatabaseModel, TableModel } from '../schema/model.ts';
import { parseSchema } from '../schema/parse.ts';

export interface ModelSource {
  /** Path of the schema, for the header. */
  readonly path: string;
  /** The JSON of the schema. */
  readonly text: string;
  /** What the module calls the database: `OvnNorthbound` exports the type `OvnNorthbound` and the model `ovnNorthbound`. */
  readonly typeName: string;
}

/** @throws SchemaError, SyntaxError when the text is not a schema */
export const generateModel = ({ path, text, typeName }: ModelSource): string => {
  const schema = parseSchema(JSON.parse(text));
  const tables = Object.entries(schema.tables).sort(byName);
  const body = [
    ...tables.map(([table, model]) => rowType(schema, table, model)),
    databaseType(schema, typeName, tables),
    modelValue(schema, typeName, tables),
  ].join('\n\n');
  return `${header(path, body)}\n\n${body}\n`;
};

const header = (path: string, body: string): string => {
  const builders = ['map', 'optional', 'ref', 'scalar', 'set', 'weakRef'].filter(
    (name) => body.includes(` ${name}(`) || body.includes(`(${name}(`),
  );
  return [
    `// Generated from ${path} by \`make gen\`. DO NOT EDIT.`,
    `import { ${builders.join(', ')} } from '../schema/column.ts';`,
    "import type { DatabaseModel } from '../schema/model.ts';",
    "import type { Uuid } from '../uuid.ts';",
  ].join('\n');
};

const rowType = (schema: DatabaseModel, table: string, model: TableModel): string =>
  [
    `/** A row of ${schema.name}'s table ${table}. */`,
    `export interface ${rowTypeName(table)} {`,
    '  readonly _uuid: Uuid;',
    ...columnsOf(model).map(([name, column]) => `  readonly ${name}: ${columnType(column)};`),
    '}',
  ].join('\n');

const databaseType = (schema: DatabaseModel, typeName: string, tables: readonly [string, TableModel][]): string =>
  [
    `/** The tables of ${schema.name}. */`,
    `export type ${typeName} = {`,
    ...tables.map(([table]) => `  readonly ${table}: ${rowTypeName(table)};`),
    '};',
  ].join('\n');

const modelValue = (schema: DatabaseModel, typeName: string, tables: readonly [string, TableModel][]): string =>
  [
    `/** ${schema.name} ${schema.version}. */`,
    `export const ${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}: DatabaseModel<${typeName}> = {`,
    `  name: ${quote(schema.name)},`,
    `  version: ${quote(schema.version)},`,
    '  tables: {',
    ...tables.map(([table, model]) => tableValue(table, model)),
    '  },',
    '};',
  ].join('\n');

const tableValue = (table: string, model: TableModel): string =>
  [
    `    ${table}: {`,
    `      isRoot: ${model.isRoot},`,
    ...(model.maxRows === undefined ? [] : [`      maxRows: ${model.maxRows},`]),
    `      indexes: [${model.indexes.map((index) => `[${index.map(quote).join(', ')}]`).join(', ')}],`,
    '      columns: {',
    ...columnsOf(model).map(([name, column]) => `        ${name}: ${columnValue(column)},`),
    '      },',
    '    },',
  ].join('\n');

const columnsOf = (model: TableModel): [string, Column][] => Object.entries(model.columns).sort(byName);

const columnType = (column: Column): string => {
  const element = baseType(column.key);
  switch (column.kind) {
    case 'scalar':
      return element;
    case 'optional':
      return `${element} | undefined`;
    case 'set':
      return `readonly ${element.includes('|') ? `(${element})` : element}[]`;
    case 'map':
      // Enumerated keys stay strings: which of them are there is not known.
      return `Readonly<Record<${column.key.type === 'integer' ? 'number' : 'string'}, ${column.value === undefined ? 'never' : baseType(column.value)}>>`;
  }
};

const baseType = (base: Base): string => {
  if (base.enum !== undefined)
    return base.enum.map((choice) => JSON.stringify(choice).replaceAll('"', "'")).join(' | ');
  switch (base.type) {
    case 'integer':
    case 'real':
      return 'number';
    case 'uuid':
      return 'Uuid';
    default:
      return base.type;
  }
};

const columnValue = (column: Column): string => {
  const types = column.value === undefined ? [column.key] : [column.key, column.value];
  const flags = flagsOf(column);
  return `${column.kind}(${[...types.map(baseValue), ...(flags.length > 0 ? [`{ ${flags.join(', ')} }`] : [])].join(', ')})`;
};

const flagsOf = ({ kind, min, max, ephemeral, immutable }: Column): string[] => [
  ...(min > 0 && kind !== 'scalar' ? [`min: ${min}`] : []),
  ...(Number.isFinite(max) && max > 1 ? [`max: ${max}`] : []),
  ...(ephemeral ? ['ephemeral: true'] : []),
  ...(immutable ? ['immutable: true'] : []),
];

/** What an enum allows is left to the server: only the type has it. */
const baseValue = ({ type, refTable, weak, minLength, maxLength }: Base): string => {
  const lengths = Object.entries({ minLength, maxLength }).filter(([, length]) => length !== undefined);
  if (lengths.length > 0)
    return `{ type: ${quote(type)}, ${lengths.map(([name, it]) => `${name}: ${it}`).join(', ')} }`;
  if (refTable === undefined) return quote(type);
  return `${weak ? 'weakRef' : 'ref'}(${quote(refTable)})`;
};

const rowTypeName = (table: string): string =>
  `${table
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Row`;

const quote = (text: string): string => `'${text}'`;

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;
