import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAtLeast, loadNetworkConf, parseNetworkConf } from './conf.ts';

const CONF = JSON.stringify({ cniVersion: '1.1.0', name: 'net', type: 'p', ipam: {}, logLevel: '5' });
const LIST = JSON.stringify({ cniVersion: '1.0.0', name: 'list', plugins: [{ type: 'a', x: 1 }, { type: 'b' }] });

describe('parseNetworkConf', () => {
  it('makes a list of a single plugin and keeps what is the plugin’s', () => {
    expect(parseNetworkConf(CONF, '10.conf')).toEqual({
      cniVersion: '1.1.0',
      name: 'net',
      plugins: [{ type: 'p', ipam: {}, logLevel: '5' }],
      disableGC: false,
    });
  });

  it('reads a list', () => {
    expect(parseNetworkConf(LIST, '10.conflist')).toMatchObject({
      name: 'list',
      plugins: [{ type: 'a', x: 1 }, { type: 'b' }],
    });
  });

  it.each([
    [['1.0.0', '1.1.0'], '1.1.0'],
    [['1.1.0', '0.4.0', '9.0.0'], '1.1.0'],
    [['0.4.0'], '1.0.0'],
    [undefined, '1.0.0'],
  ])('of the versions %j and 1.0.0 it takes the highest that it knows, %s', (cniVersions, expected) => {
    const content = JSON.stringify({ ...(JSON.parse(LIST) as object), cniVersions });
    expect(parseNetworkConf(content, '10.conflist').cniVersion).toBe(expected);
  });

  it.each([
    ['{}', '10.conf'],
    ['{"name":"a"}', '10.conf'],
    ['{"name":"a","plugins":[]}', '10.conflist'],
    ['{"name":"a","type":"p"}', '10.conflist'],
    ['[', '10.conf'],
  ])('refuses %s as %s', (content, file) => expect(() => parseNetworkConf(content, file)).toThrow());
});

describe('loadNetworkConf', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conf-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('takes the first valid file by name', async () => {
    await writeFile(join(folder, '00-bad.conf'), '{');
    await writeFile(join(folder, '05.txt'), CONF);
    await writeFile(join(folder, '20.conf'), CONF);
    await writeFile(join(folder, '10.conflist'), LIST);
    expect(await loadNetworkConf(folder)).toMatchObject({ conf: { name: 'list' } });
  });

  it('says why there is none', async () => {
    expect(await loadNetworkConf(folder)).toEqual({ conf: undefined, reason: `no CNI configuration in ${folder}` });
    expect(await loadNetworkConf(join(folder, 'nowhere'))).toMatchObject({ conf: undefined });
    await writeFile(join(folder, '00-bad.conf'), '{"name":1}');
    expect(await loadNetworkConf(folder)).toMatchObject({ reason: expect.stringMatching(/^00-bad\.conf: name/) });
  });
});

it.each([
  ['1.1.0', '1.1.0', true],
  ['1.1', '1.1.0', true],
  ['1.0.0', '1.1.0', false],
  ['0.4.0', '0.4.0', true],
  ['0.10.0', '0.4.0', true],
  ['2.0.0', '1.1.0', true],
])('isAtLeast(%s, %s) is %s', (version, minimum, expected) => expect(isAtLeast(version, minimum)).toBe(expected));
