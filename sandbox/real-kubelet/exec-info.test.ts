import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Machine } from '../machine/types.ts';
import { realPodCommand } from './exec-info.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'udn-tasks-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const machine = (name: string): Machine => ({
  name,
  pid: 1,
  enter: () => ({ file: '', args: [] }),
  pathOf: (path) => join(root, name, path),
  ended: new Promise(() => {}),
});

interface Container {
  readonly pod: string;
  readonly name?: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly sandbox?: string;
}

const addContainer = (node: string, id: string, { pod, name, pid, startedAt, sandbox = 'zero' }: Container): void => {
  const folder = join(root, node, 'run/containerd/io.containerd.runtime.v2.task/k8s.io', id);
  mkdirSync(folder, { recursive: true });
  const annotations = {
    'io.kubernetes.cri.container-type': name === undefined ? 'sandbox' : 'container',
    'io.kubernetes.cri.sandbox-namespace': 'red',
    'io.kubernetes.cri.sandbox-name': pod,
    'io.kubernetes.cri.sandbox-id': sandbox,
    ...(name === undefined ? {} : { 'io.kubernetes.cri.container-name': name }),
  };
  const cgroupsPath = `/kubepods/besteffort/pod1/${id}`;
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ annotations, process: { env: ['A=1'] }, linux: { cgroupsPath } }),
  );
  writeFileSync(join(folder, 'init.pid'), String(pid));
  utimesSync(join(folder, 'init.pid'), startedAt, startedAt);
  runs(node, pid, `/sandboxes/test/${node}${cgroupsPath}`);
};

/** Seen from outside of the node, and with a hierarchy of version 1 beside. */
const runs = (node: string, pid: number, cgroup: string): void => {
  const folder = join(root, node, 'proc', String(pid));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'cgroup'), `1:name=systemd:/\n0::${cgroup}\n`);
};

it('enters the container that was started first, or the one that is named', async () => {
  addContainer('a', 'zero', { pod: 'web', pid: 10, startedAt: 1 });
  addContainer('a', 'one', { pod: 'web', name: 'second', pid: 12, startedAt: 3 });
  addContainer('a', 'two', { pod: 'web', name: 'first', pid: 11, startedAt: 2 });
  addContainer('a', 'other', { pod: 'web-2', name: 'main', pid: 13, startedAt: 1 });
  const nodes = [machine('b'), machine('a')];
  const target = { namespace: 'red', pod: 'web' };
  const { node, prefix } = await realPodCommand(nodes, target);
  expect(node.name).toBe('a');
  expect(prefix.slice(1)).toEqual([
    ...['enter', '--target', '11', '--cgroup', '/sys/fs/cgroup/kubepods/besteffort/pod1/two'],
    ...['--clear-env', '--env', 'A=1'],
  ]);
  expect((await realPodCommand(nodes, { ...target, container: 'second' })).prefix).toContain('12');
});

it('says what there is not', async () => {
  addContainer('a', 'one', { pod: 'web', name: 'main', pid: 12, startedAt: 3 });
  mkdirSync(join(root, 'a/run/containerd/io.containerd.runtime.v2.task/k8s.io/starting'));
  const ask = (pod: string, container?: string) => realPodCommand([machine('a')], { namespace: 'red', pod, container });
  await expect(ask('none')).rejects.toThrow('no node runs a pod red/none');
  await expect(ask('web', 'x')).rejects.toThrow('pod red/web runs no container x');
});

it('a pod that was recreated while the one before still runs is the new one', async () => {
  addContainer('a', 'one', { pod: 'web', name: 'main', pid: 11, startedAt: 1, sandbox: 'before' });
  addContainer('a', 'two', { pod: 'web', name: 'main', pid: 12, startedAt: 2, sandbox: 'after' });
  addContainer('a', 'three', { pod: 'web', name: 'side', pid: 13, startedAt: 3, sandbox: 'after' });
  const { prefix } = await realPodCommand([machine('a')], { namespace: 'red', pod: 'web' });
  expect(prefix).toContain('12');
});

it('a folder that is left of a container is none, whoever has the number of its process now', async () => {
  const ask = () => realPodCommand([machine('a')], { namespace: 'red', pod: 'web' });
  addContainer('a', 'one', { pod: 'web', name: 'main', pid: 11, startedAt: 1 });
  rmSync(join(root, 'a/proc/11'), { recursive: true });
  await expect(ask()).rejects.toThrow('no node runs a pod red/web');
  runs('a', 11, '/sandboxes/test/a/kubepods/besteffort/pod1/oneself');
  await expect(ask()).rejects.toThrow('no node runs a pod red/web');
  runs('a', 11, '/sandboxes/test/a/kubepods/besteffort/pod1/one/inner');
  expect((await ask()).prefix).toContain('11');
});

it('one that is being started is none yet: what of it is written may be half of it', async () => {
  const folder = join(root, 'a/run/containerd/io.containerd.runtime.v2.task/k8s.io/one');
  addContainer('a', 'two', { pod: 'web', name: 'main', pid: 12, startedAt: 1 });
  addContainer('a', 'one', { pod: 'other', name: 'main', pid: 11, startedAt: 1 });
  const ask = () => realPodCommand([machine('a')], { namespace: 'red', pod: 'web' });
  writeFileSync(join(folder, 'config.json'), '{"annotations": {');
  for (const pid of ['', undefined]) {
    if (pid === undefined) rmSync(join(folder, 'init.pid'));
    else writeFileSync(join(folder, 'init.pid'), pid);
    expect((await ask()).prefix).toContain('12');
  }
});
