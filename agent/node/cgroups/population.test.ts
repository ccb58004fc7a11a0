import { mkdirSync, mkdtempSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { FactStore } from '../../model/fact-store.ts';
import { LOCAL } from '../../model/facts.ts';
import type { WatchFolder } from './cgroup-tree.ts';
import { type Cgroups, startCgroups } from './index.ts';

let folder: string;
let facts: FactStore;
let cgroups: Cgroups | undefined;
const make = (path: string): string => mkdirSync(join(folder, path), { recursive: true }) ?? '';
const id = (path: string): string => String(statSync(join(folder, path), { bigint: true }).ino);
const start = (): void => {
  cgroups = startCgroups({ facts, root: { folder, prefix: 'unified' } });
};
const kubelet = () => facts.get('kubeletCgroup', LOCAL);
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cgroups-'));
  facts = new FactStore();
});

afterEach(() => {
  cgroups?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('knows at once when nothing is in the cgroup of the kubelet any more, and when something is again', async () => {
  const own = 'system.slice/kubelet.service';
  const populate = (populated: 0 | 1, path = own): void =>
    writeFileSync(join(folder, path, 'cgroup.events'), `populated ${populated}\nfrozen 0\n`);
  make(own);
  populate(1);
  start();
  expect(kubelet()).not.toHaveProperty('isEmpty');
  populate(0);
  await eventually(() => expect(kubelet()).toMatchObject({ isEmpty: true, id: id(own) }));
  populate(1);
  await eventually(() => expect(kubelet()).not.toHaveProperty('isEmpty'));
  // Another one is another one's business.
  make('kubelet.slice/kubelet.service');
  populate(0, 'kubelet.slice/kubelet.service');
  await eventually(() => expect(kubelet()).toMatchObject({ isEmpty: true, level: 2 }));
  rmSync(join(folder, 'kubelet.slice'), { recursive: true });
  await eventually(() => expect(kubelet()?.path).toBe(`unified/${own}`));
  expect(kubelet()).not.toHaveProperty('isEmpty');
});

it('finds by itself that the kubelet has left, too', async () => {
  const clock = createFakeClock();
  make('kubelet.service');
  const events = join(folder, 'kubelet.service/cgroup.events');
  writeFileSync(events, 'populated 1\n');
  const watchFolder: WatchFolder = (path, options) => watch(path, options, () => {});
  cgroups = startCgroups({ facts, root: { folder, prefix: '' }, clock, watch: watchFolder });
  writeFileSync(events, 'populated 0\n');
  expect(kubelet()).not.toHaveProperty('isEmpty');
  await clock.advance(15_000);
  expect(kubelet()).toHaveProperty('isEmpty', true);
});
