import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recipeOf } from '../../sandbox/kubernetes/recipe.ts';
import { conformanceRecipe, PACKAGES } from './recipe.ts';

const read = (...path: string[]): string => readFileSync(join(import.meta.dirname, ...path), 'utf8');
const sourcesOf = (...folder: string[]) => ({ goMod: read(...folder, 'go.mod'), goSum: read(...folder, 'go.sum') });
const sources = ['main.go', 'primary.go'].map((name) => read('kubernetes', 'e2e', name));
const input = { ...sourcesOf('kubernetes'), sources, architecture: 'x64' };
const sandbox = { ...sourcesOf('..', '..', 'sandbox', 'kubernetes'), architecture: 'x64' };

describe('conformanceRecipe', () => {
  it('names version and contents', () => {
    const { version, key } = conformanceRecipe(input);
    expect(key).toMatch(new RegExp(`^conformance-${version}-[0-9a-f]{12}$`));
    expect(conformanceRecipe(input).key).toBe(key);
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['sum', { goSum: `${input.goSum}x` }],
    ['group of specs', { sources: sources.map((text) => text.replace('e2e/network', 'e2e/node')) }],
  ])('another %s has another name', (_, change) => {
    expect(conformanceRecipe({ ...input, ...change }).key).not.toBe(conformanceRecipe(input).key);
  });
});

it('the suite is of the version of the API server that it judges, and of the same staging modules', () => {
  const { version, toolchain } = recipeOf(sandbox);
  expect(conformanceRecipe(input)).toMatchObject({ version, toolchain });
  const replaced = (goMod: string) => /^replace \(\n[^)]*\)/m.exec(goMod)?.[0];
  expect(replaced(input.goMod)).toBe(replaced(sandbox.goMod));
});

it('go.mod has every program of another module as a tool', () => {
  const tools = /^tool \(\n([^)]*)\)/m.exec(input.goMod)?.[1]?.trim().split(/\s+/);
  const packages = Object.values(PACKAGES).filter((path) => !path.startsWith('./'));
  expect(tools?.sort()).toEqual([...packages].sort());
});
