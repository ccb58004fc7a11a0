/** Who asks a sandbox to end starts a janitor, too: they meet. Needs root and `make build`. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findArtifacts } from '../artifacts.ts';
import { cgroupsFolder } from '../machine/cgroups.ts';
import { startJanitor } from './janitor.ts';

/** As processes do that are on their way into a cgroup. */
const makeMore = async (folder: string): Promise<void> => {
  for (let made = 0; made < 300; made++) await mkdir(join(folder, `late-${made}`)).catch(() => {});
};

it('several at once leave nothing, whichever removes a folder first and who makes more meanwhile', async () => {
  const { toolbox } = findArtifacts();
  const parent = join(await cgroupsFolder(), `test-janitor-${process.pid}`);
  const cgroup = join(parent, 'one');
  const folder = await mkdtemp(join(tmpdir(), 'janitor-'));
  for (const top of [cgroup, folder]) {
    for (let i = 0; i < 100; i++) await mkdir(join(top, String(i % 10), String(i), 'below'), { recursive: true });
  }
  const janitors = [1, 2, 3, 4].map(() => startJanitor({ toolbox, cgroup, folder }));
  const late = makeMore(cgroup);
  await Promise.all([late, ...janitors.map((janitor) => janitor.clean())]);
  expect([cgroup, folder, parent].filter(existsSync)).toEqual([]);
});
