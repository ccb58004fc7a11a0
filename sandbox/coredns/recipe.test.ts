import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { corednsRecipe } from './recipe.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const input = { goMod: read('go.mod'), goSum: read('go.sum'), main: read('main.go'), architecture: 'x64' };

describe('corednsRecipe', () => {
  it('names version and contents', () => {
    const { version, toolchain, key } = corednsRecipe(input);
    expect(version).toMatch(/^v1\.\d+\.\d+$/);
    expect(toolchain).toMatch(/^go1\.\d+\.\d+$/);
    expect(key).toMatch(new RegExp(`^coredns-${version}-[0-9a-f]{12}$`));
    expect(corednsRecipe(input).key).toBe(key);
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['sum', { goSum: `${input.goSum}x` }],
    ['plugin', { main: input.main.replace('plugin/cache', 'plugin/file') }],
    ['version', { goMod: input.goMod.replace(/(coredns\/coredns v1\.\d+\.)\d+/, '$199') }],
  ])('another %s has another name', (_, change) => {
    expect(corednsRecipe({ ...input, ...change }).key).not.toBe(corednsRecipe(input).key);
  });

  it('refuses a go.mod without versions', () => {
    expect(() => corednsRecipe({ ...input, goMod: 'module x\n' })).toThrow('names no CoreDNS');
  });
});
