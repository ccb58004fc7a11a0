/** Needs root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namespacesOf, tracesOf } from './leaks.ts';
import { eventually } from './testing/eventually.ts';

const NAME = 'no-such-sandbox';
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
    expect(await tracesOf(NAME, { ids: new Set([namespace]), asOf })).toEqual([`process ${child.pid}: sleep 60`]);
  });

  it('takes no later process for one: numbers of namespaces are given again', async () => {
    const { asOf } = await namespacesOf(NAME);
    expect(await tracesOf(NAME, { ids: new Set([namespace]), asOf: asOf - 60 * 100 })).toEqual([]);
  });
});
