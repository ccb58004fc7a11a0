import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cniPluginsRecipe, PACKAGES } from './recipe.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const input = { goMod: read('go.mod'), goSum: read('go.sum'), architecture: 'x64' };

describe('cniPluginsRecipe', () => {
  it('names version and contents', () => {
    const { version, toolchain, key } = cniPluginsRecipe(input);
    expect(version).toMatch(/^v1\.\d+\.\d+$/);
    expect(toolchain).toMatch(/^go1\.\d+\.\d+$/);
    expect(key).toMatch(new RegExp(`^cni-plugins-${version}-[0-9a-f]{12}$`));
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['sum', { goSum: `${input.goSum}x` }],
  ])('another %s has another name', (_, change) => {
    expect(cniPluginsRecipe({ ...input, ...change }).key).not.toBe(cniPluginsRecipe(input).key);
  });

  it('has a tool for each plugin, so that go.sum has what it needs', () => {
    for (const source of Object.values(PACKAGES)) expect(input.goMod).toContain(`\t${source}\n`);
  });

  it('refuses a go.mod without versions', () => {
    expect(() => cniPluginsRecipe({ ...input, goMod: 'module x\n' })).toThrow('names no version');
  });
});
