import { readFileSync } from 'node:fs';
import { parseSchema } from '../../schema/parse.ts';
import { describeDatabase } from '../conformance.suite.ts';
import { schemaPath } from '../schemas.ts';
import { MemoryDatabase } from './database.ts';

const schema = parseSchema(JSON.parse(readFileSync(schemaPath('ovn-northbound'), 'utf8')));

describeDatabase('the database in memory', () => {
  const database = new MemoryDatabase(schema);
  return Promise.resolve({
    transact: (operations) => Promise.resolve(JSON.parse(JSON.stringify(database.transact(operations))) as unknown[]),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
