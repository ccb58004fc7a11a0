import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { konnectivityRecipe, PACKAGES } from './recipe.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const input = { goMod: read('go.mod'), goSum: read('go.sum'), architecture: 'x64' };

describe('konnectivityRecipe', () => {
  it('names version and contents', () => {
    const { version, toolchain, key } = konnectivityRecipe(input);
    expect(version).toMatch(/^v0\.\d+\.\d+$/);
    expect(toolchain).toMatch(/^go1\.\d+\.\d+$/);
    expect(key).toMatch(new RegExp(`^konnectivity-${version}-[0-9a-f]{12}$`));
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['sum', { goSum: `${input.goSum}x` }],
  ])('another %s has another name', (_, change) => {
    expect(konnectivityRecipe({ ...input, ...change }).key).not.toBe(konnectivityRecipe(input).key);
  });

  it('refuses a go.mod without versions', () => {
    expect(() => konnectivityRecipe({ ...input, goMod: 'module x\n' })).toThrow('names no version');
  });
});

it('go.mod keeps the programs that are built', () => {
  for (const name of Object.values(PACKAGES)) expect(input.goMod).toContain(`\t${name}\n`);
});

it('is of the version whose client the API server has', () => {
  const kubernetes = readFileSync(join(import.meta.dirname, '..', 'kubernetes', 'go.mod'), 'utf8');
  const client = /apiserver-network-proxy\/konnectivity-client (v\S+)/.exec(kubernetes)?.[1];
  expect(konnectivityRecipe(input).version).toBe(client);
});
