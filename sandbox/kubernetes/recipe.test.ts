import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linkerFlags, PACKAGES, recipeOf, switchesToolchains } from './recipe.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const input = { goMod: read('go.mod'), goSum: read('go.sum'), architecture: 'x64' };

describe('recipeOf', () => {
  it('names version and contents', () => {
    const { version, toolchain, key } = recipeOf(input);
    expect(version).toMatch(/^v1\.\d+\.\d+$/);
    expect(toolchain).toMatch(/^go1\.\d+\.\d+$/);
    expect(key).toMatch(new RegExp(`^kubernetes-${version}-[0-9a-f]{12}$`));
    expect(recipeOf(input).key).toBe(key);
  });

  it.each([
    ['architecture', { architecture: 'arm64' }],
    ['a sum', { goSum: `${input.goSum}x` }],
    ['a version', { goMod: input.goMod.replace(/(k8s\.io\/kubernetes v1\.\d+\.)\d+/, '$199') }],
  ])('another %s has another name', (_, change) => {
    expect(recipeOf({ ...input, ...change }).key).not.toBe(recipeOf(input).key);
  });

  it('refuses a go.mod without versions', () => {
    expect(() => recipeOf({ ...input, goMod: 'module x\n' })).toThrow('names no k8s.io/kubernetes');
  });
});

it('go.mod has every program as a tool, and the staging modules at the version of Kubernetes', () => {
  const tools = /^tool \(\n([^)]*)\)/m.exec(input.goMod)?.[1]?.trim().split(/\s+/);
  expect(tools?.sort()).toEqual(Object.values(PACKAGES).sort());
  const { version } = recipeOf(input);
  const staging = [...input.goMod.matchAll(/^\tk8s\.io\/\S+ => k8s\.io\/\S+ (\S+)$/gm)].map(([, replaced]) => replaced);
  expect(staging.length).toBeGreaterThan(20);
  expect(new Set(staging)).toEqual(new Set([version.replace(/^v1/, 'v0')]));
});

it('programs know their version', () => {
  expect(linkerFlags('v1.36.3')).toBe(
    '-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 -X k8s.io/component-base/version.gitMajor=1' +
      ' -X k8s.io/component-base/version.gitMinor=36 -X k8s.io/component-base/version.gitTreeState=clean',
  );
});

it.each([
  ['go version go1.26.8 linux/amd64', true],
  ['go version go1.21 linux/amd64', true],
  ['go version devel go2.0-abc linux/amd64', true],
  ['go version go1.20.14 linux/amd64', false],
  ['', false],
])('%j switches toolchains: %s', (text, answer) => expect(switchesToolchains(text)).toBe(answer));
