import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

it.each(['session-and-replica', 'desired-rows'])('the README shows %s as it is compiled and run', (name) => {
  expect(read('../README.md')).toContain(`\`\`\`ts\n${read(`${name}.ts`)}\`\`\`\n`);
});
