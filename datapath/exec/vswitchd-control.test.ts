import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { vswitchdControl } from './vswitchd-control.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vswitchd-control-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  ['that the pidfile names', ['ovs-vswitchd.12.ctl', 'ovs-vswitchd.34.ctl'], '34\n', 'ovs-vswitchd.34.ctl'],
  ['that is the only one', ['ovs-vswitchd.12.ctl', 'ovsdb-server.9.ctl'], undefined, 'ovs-vswitchd.12.ctl'],
  ['without a process id', ['ovs-vswitchd.12.ctl', 'ovs-vswitchd.ctl'], '34\n', 'ovs-vswitchd.ctl'],
  ['that is the only one, whatever the pidfile says', ['ovs-vswitchd.12.ctl'], '34\n', 'ovs-vswitchd.12.ctl'],
])('the control socket is the one %s', async (_, sockets, pid, expected) => {
  for (const name of sockets) await writeFile(join(folder, name), '');
  if (pid !== undefined) await writeFile(join(folder, 'ovs-vswitchd.pid'), pid);
  expect(await vswitchdControl(folder)).toEqual(['--target', join(folder, expected)]);
});

it('where it is unknown, ovs-appctl says what is missing', async () => {
  for (const name of ['ovs-vswitchd.12.ctl', 'ovs-vswitchd.34.ctl']) await writeFile(join(folder, name), '');
  expect(await vswitchdControl(folder)).toEqual([]);
  expect(await vswitchdControl(join(folder, 'missing'))).toEqual([]);
});
