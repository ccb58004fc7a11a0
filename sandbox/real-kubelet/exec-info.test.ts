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
}

const place = (node: string, id: string, { pod, name, pid, startedAt }: Container): void => {
  const folder = join(root, node, 'run/containerd/io.containerd.runtime.v2.task/k8s.io', id);
  mkdirSync(folder, { recursive: true });
  const annotations = {
    'io.kubernetes.cri.container-type': name === undefined ? 'sandbox' : 'container',
    'io.kubernetes.cri.sandbox-namespace': 'red',
    'io.kubernetes.cri.sandbox-name': pod,
    ...(name === undefined ? {} : { 'io.kubernetes.cri.container-name': name }),
  };
  const cgroupsPath = `/kubepods/besteffort/pod1/${id}`;
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ annotations, process: { env: ['A=1'] }, linux: { cgroupsPath } }),
  );
  writeFileSync(join(folder, 'init.pid'), String(pid));
  utimesSync(join(folder, 'init.pid'), startedAt, startedAt);
};

it('enters the container that was started first, or the one that is named', async () => {
  place('a', 'zero', { pod: 'web', pid: 10, startedAt: 1 });
  place('a', 'one', { pod: 'web', name: 'second', pid: 12, startedAt: 3 });
  place('a', 'two', { pod: 'web', name: 'first', pid: 11, startedAt: 2 });
  place('a', 'other', { pod: 'web-2', name: 'main', pid: 13, startedAt: 1 });
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
  place('a', 'one', { pod: 'web', name: 'main', pid: 12, startedAt: 3 });
  mkdirSync(join(root, 'a/run/containerd/io.containerd.runtime.v2.task/k8s.io/starting'));
  const ask = (pod: string, container?: string) => realPodCommand([machine('a')], { namespace: 'red', pod, container });
  await expect(ask('none')).rejects.toThrow('no node runs a pod red/none');
  await expect(ask('web', 'x')).rejects.toThrow('pod red/web runs no container x');
});
