import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxRecord } from './record.ts';
import { recordStore } from './record-store.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'records-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const RECORD: SandboxRecord = {
  containerId: 'abc',
  pod: { namespace: 'ns', name: 'a', uid: 'u' },
  attachments: [
    {
      ...{ nadKey: 'ns/lan', ifName: 'net1', cniVersion: '1.0.0', network: 'lan', disableCheck: false },
      plugins: [{ type: 'bridge', config: { bridge: 'lan0' } }],
      result: { ips: [] },
    },
  ],
};

it('keeps a record until it is empty', async () => {
  const store = recordStore(join(folder, 'below'));
  expect([await store.read('abc'), await store.list()]).toEqual([undefined, []]);
  await store.write(RECORD);
  expect(await recordStore(join(folder, 'below')).read('abc')).toEqual(RECORD);
  expect(await store.list()).toEqual(['abc']);
  await store.write({ ...RECORD, attachments: [] });
  expect([await store.read('abc'), await readdir(join(folder, 'below'))]).toEqual([undefined, []]);
});

it('names the file that cannot be read', async () => {
  await writeFile(join(folder, 'abc.json'), '{"containerId":1}');
  await expect(recordStore(folder).read('abc')).rejects.toThrow(`${join(folder, 'abc.json')} cannot be read: `);
});

it('has none of an id that makes no file name', async () => {
  expect(await recordStore(folder).read('x'.repeat(300))).toBeUndefined();
});
