/** The kernel reports that the last process has left a cgroup. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Population } from './population.ts';
import { cgroupRoot } from './root.ts';

const ROOT = cgroupRoot(readFileSync('/proc/self/mountinfo', 'utf8')) ?? { folder: '', prefix: '' };
const NAME = `udntest${randomBytes(4).toString('hex')}.slice`;
const OWN = join(ROOT.folder, NAME);
const processes: ChildProcess[] = [];

afterEach(async () => {
  for (const one of processes.splice(0)) {
    one.kill('SIGKILL');
    if (one.exitCode === null && one.signalCode === null) await once(one, 'exit');
  }
  rmdirSync(OWN);
});

const move = (child: ChildProcess, folder: string): void =>
  writeFileSync(join(folder, 'cgroup.procs'), String(child.pid));

it('as it moves, and when it ends, and not while another one stays', async () => {
  mkdirSync(OWN);
  let changed = (_isEmpty: boolean): void => undefined;
  const change = (): Promise<boolean> =>
    new Promise((resolve) => {
      changed = resolve;
    });
  const population = new Population({ folder: ROOT.folder, onChange: () => changed(population.isEmpty) });
  const sleep = (): ChildProcess => {
    const child = spawn('sleep', ['infinity']);
    processes.push(child);
    return child;
  };
  try {
    const kubelet = sleep();
    move(kubelet, OWN);
    population.follow({ path: [NAME], kind: { kind: 'kubelet', rank: 0 }, id: String(statSync(OWN).ino) });
    expect(population.isEmpty).toBe(false);
    const left = change();
    move(kubelet, ROOT.folder);
    expect(await left).toBe(true);
    const back = change();
    const other = sleep();
    move(kubelet, OWN);
    expect(await back).toBe(false);
    move(other, OWN);
    const ended = change();
    move(kubelet, ROOT.folder);
    expect(population.isEmpty).toBe(false);
    other.kill('SIGKILL');
    expect(await ended).toBe(true);
  } finally {
    population.stop();
  }
});
