import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recipeFor } from './other-suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const goMod = (...folder: string[]): string => readFileSync(join(ROOT, ...folder, 'go.mod'), 'utf8');
const toolchain = /^toolchain (\S+)/m.exec(goMod('sandbox', 'kubernetes'))?.[1];

it.each([
  ['admin-policies', 'v0.1.7'],
  ['cluster-policies', 'v0.2.0'],
  ['cyclonus', 'v0.5.6'],
] as const)('%s is of %s, built as the sandbox builds, and named by what it is built of', async (suite, version) => {
  const recipe = await recipeFor(suite);
  expect(recipe).toMatchObject({ version, toolchain });
  expect(recipe.key).toMatch(new RegExp(`^conformance-${suite}-${version}-[0-9a-f]{12}$`));
});

it('cyclonus is of the version of the oracle', () => {
  const [played, compared] = [
    goMod('tools', 'conformance', 'cyclonus'),
    goMod('test', 'oracles', 'policies', 'cyclonus'),
  ];
  const version = (text: string) => /cyclonus (v\S+)/.exec(text)?.[1];
  expect(version(played)).toBe(version(compared));
});
