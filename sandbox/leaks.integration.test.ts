/** Needs root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readlink, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namespacesOf, tracesOf } from './leaks.ts';
import { cgroupsFolder } from './machine/cgroups.ts';
import { eventually } from './testing/eventually.ts';

const NAME = 'no-such-sandbox';
const NONE: ReadonlySet<string> = new Set();
let child: ChildProcess;
let namespace = '';

beforeEach(async () => {
  child = spawn('unshare', ['--net', 'sleep', '60'], { stdio: 'ignore' });
  const own = await readlink('/proc/self/ns/net');
  namespace = await eventually(async () => {
    const link = await readlink(`/proc/${child.pid}/ns/net`);
    expect(link).not.toBe(own);
    return link;
  });
});
afterEach(async () => {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
});

describe('tracesOf', () => {
  it('finds a process in a namespace of the sandbox, whatever it is', async () => {
    const { asOf } = await namespacesOf(NAME);
    expect(await tracesOf(NAME, { ids: new Set([namespace]), asOf, containers: NONE })).toEqual([
      `process ${child.pid}: sleep 60`,
    ]);
  });

  it('finds the cgroup and the process of a container, wherever they are', async () => {
    const id = randomBytes(32).toString('hex');
    const cgroup = join(dirname(await cgroupsFolder()), `left-${id.slice(0, 8)}`);
    await mkdir(join(cgroup, id), { recursive: true });
    const shim = spawn('sh', ['-c', 'sleep 60 & wait', 'shim', '-id', id], { stdio: 'ignore', detached: true });
    try {
      const traces = await tracesOf(NAME, { ids: new Set(), asOf: 0, containers: new Set([id]) });
      expect(traces).toEqual([`cgroup ${join(cgroup, id)}`, expect.stringMatching(`^process ${shim.pid}: .*${id}`)]);
    } finally {
      process.kill(-(shim.pid ?? 0), 'SIGKILL');
      await rmdir(join(cgroup, id));
      await rmdir(cgroup);
    }
    expect(await tracesOf(NAME, { ids: new Set(), asOf: 0, containers: new Set(['0'.repeat(64)]) })).toEqual([]);
  });

  it('takes no later process for one: numbers of namespaces are given again', async () => {
    const { asOf } = await namespacesOf(NAME);
    expect(await tracesOf(NAME, { ids: new Set([namespace]), asOf: asOf - 60 * 100, containers: NONE })).toEqual([]);
  });
});
