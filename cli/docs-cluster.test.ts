/** What docs/udnctl.md says of the cluster's commands is what they print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { networksOutput, podsOutput, servicesOutput } from './cluster/tables.ts';
import { CAUSES } from './why/finding.ts';
import { scene } from './why/testing/objects.ts';

const docs = readFileSync(join(import.meta.dirname, '..', 'docs', 'udnctl.md'), 'utf8');
const firstLine = (command: string): string | undefined => docs.split(`$ ${command}\n`)[1]?.split('\n')[0];

it('tables have the columns that are printed', () => {
  const tables = [
    ['udnctl networks -A', networksOutput([], scene([]), { isWide: false })],
    ['udnctl pods -A', podsOutput([], scene([]), { isWide: false })],
    ['udnctl services -A', servicesOutput([], scene([]), { isWide: false })],
  ] as const;
  for (const [command, output] of tables) expect(firstLine(command)?.split(/ +/)).toEqual(output.tables[0]?.head);
});

it('every cause is explained', () => {
  expect([...docs.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, cause]) => cause)).toEqual([...CAUSES]);
});
