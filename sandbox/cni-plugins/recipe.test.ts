import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CNI_PLUGINS, MODULES, PACKAGES, pluginRecipe, pluginsOf } from './recipe.ts';

it('each plugin is of one module', () => {
  expect(MODULES.flatMap((module) => pluginsOf(module, CNI_PLUGINS)).sort()).toEqual(Object.keys(PACKAGES));
});

describe.each(MODULES)('pluginRecipe of $title', (module) => {
  const read = (name: string): string => readFileSync(join(import.meta.dirname, module.folder, name), 'utf8');
  const input = { goMod: read('go.mod'), goSum: read('go.sum'), architecture: 'x64' };

  it('names version and contents', () => {
    const { version, toolchain, key } = pluginRecipe(module, input);
    expect(version).toMatch(/^v[14]\.\d+\.\d+$/);
    expect(toolchain).toMatch(/^go1\.\d+\.\d+$/);
    expect(key).toMatch(new RegExp(`^${module.key}-${version}-[0-9a-f]{12}$`));
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['sum', { goSum: `${input.goSum}x` }],
  ])('another %s has another name', (_, change) => {
    expect(pluginRecipe(module, { ...input, ...change }).key).not.toBe(pluginRecipe(module, input).key);
  });

  it('has a tool for each plugin, so that go.sum has what it needs', () => {
    for (const name of pluginsOf(module, CNI_PLUGINS)) expect(input.goMod).toMatch(toolLine(PACKAGES[name]));
  });

  it('refuses a go.mod without versions', () => {
    expect(() => pluginRecipe(module, { ...input, goMod: 'module x\n' })).toThrow('names no version');
  });
});

const toolLine = (source: string): RegExp => new RegExp(`^(?:tool |\t)${source.replaceAll('.', '\\.')}$`, 'm');
