/** The generator that `make gen` runs for this package. */
import { readFileSync } from 'node:fs';
import { generateModel } from './models.ts';

const DATABASES: Readonly<Record<string, string>> = {
  'open-vswitch': 'OpenVSwitch',
  'ovn-northbound': 'OvnNorthbound',
  'ovn-southbound': 'OvnSouthbound',
  server: 'OvsdbServer',
};

/** Path from the repository's root → content, one module per vendored schema. */
export const generateOvsdbModels = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(DATABASES).map(([name, typeName]) => {
      const path = `ovsdb/schemas/${name}.ovsschema`;
      return [`ovsdb/models/${name}.gen.ts`, generateModel({ path, text: readFileSync(path, 'utf8'), typeName })];
    }),
  );
