import { join } from 'node:path';

/** The schemas that this package has. */
export type SchemaName = 'open-vswitch' | 'ovn-northbound' | 'ovn-southbound';

/** Path of a vendored schema. */
export const schemaPath = (name: SchemaName): string => join(import.meta.dirname, '..', 'schemas', `${name}.ovsschema`);
