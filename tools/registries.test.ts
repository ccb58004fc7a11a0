/** `docs/registries.md` has what agent/model/registry/ exports: the folder is read, so that nothing new is forgotten. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { registryDocs } from './registries.ts';

const REGISTRIES = globSync('agent/model/registry/*.ts', { exclude: ['**/*.test.ts'] }).toSorted();
const GENERATORS = ['tools/registries.ts', 'tools/datapath-registries.ts'].map((file) => readFileSync(file, 'utf8'));

/** What follows from others, or is no number or name that could meet another one. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  NETWORK_PACKET_MARKS: 'the range of networkPacketMark',
  INTEGRATION_SCOPE: 'what INTEGRATION_FLOWS have in common',
  FORMER_GROUPS: 'only removed',
  GENEVE: 'one of TUNNEL_PORTS',
};

const constantsOf = async (file: string): Promise<string[]> => {
  const exported: object = await import(`../${file}`);
  return Object.keys(exported).filter((name) => name === name.toUpperCase());
};

describe.each(REGISTRIES)('%s', (file) => {
  it('is in the document', async () => {
    const missing = (await constantsOf(file)).filter(
      (name) => NOT_SHOWN[name] === undefined && !GENERATORS.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
    );
    expect(missing).toEqual([]);
  });
});

it('leaves out only what there is', async () => {
  const all = await Promise.all(REGISTRIES.map(constantsOf));
  expect(all.flat()).toEqual(expect.arrayContaining(Object.keys(NOT_SHOWN)));
});

it('names sources that there are', () => {
  const named = registryDocs()['docs/registries.md']?.match(/(?<=Source: .*`)[\w/.-]+(?=`.*\.$)/gm) ?? [];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
