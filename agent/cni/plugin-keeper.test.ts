import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { PluginKeeper } from './plugin-keeper.ts';

let root: string;
let bin: string;
let conf: string;
let keeper: PluginKeeper;
let clock: FakeClock;
let reported: string[][];
let repaired: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'plugin-keeper-'));
  [bin, conf] = [join(root, 'bin'), join(root, 'net.d')];
  mkdirSync(conf);
  writeFileSync(join(root, 'shim'), 'program', { mode: 0o755 });
  [reported, repaired, clock] = [[], [], createFakeClock()];
  keeper = new PluginKeeper({
    ...{ node: 'node1', shim: join(root, 'shim'), cniBinFolder: bin, cniConfFolder: conf, clock },
    onProblems: (problems) => reported.push(problems.map(({ message }) => message)),
    onRepaired: (folder) => repaired.push(folder),
  });
});
afterEach(async () => {
  await keeper.stop();
  rmSync(root, { recursive: true, force: true });
});

const plugin = (): string => join(bin, 'ovn-k8s-cni-overlay');
const configuration = (): string => join(conf, '10-ovn-kubernetes.conflist');
const causes = () => keeper.problems().map(({ object, cause }) => [object, cause]);
const eventually = (look: () => void): Promise<void> => vi.waitFor(look, 5_000);

it('puts the plugin in its place at once, and the configuration when pods can be added', async () => {
  await keeper.start();
  expect([existsSync(plugin()), existsSync(configuration())]).toEqual([true, false]);
  await keeper.open();
  expect(existsSync(configuration())).toBe(true);
  expect([reported, repaired]).toEqual([[], []]);
});

it('puts back what somebody removes or changes', async () => {
  await keeper.start();
  await keeper.open();
  rmSync(configuration());
  await eventually(() => expect(existsSync(configuration())).toBe(true));
  writeFileSync(plugin(), 'another program');
  await eventually(() => expect(readFileSync(plugin(), 'utf8')).toBe('program'));
  await eventually(() => expect(repaired).toEqual(expect.arrayContaining([conf, bin])));
});

it('reports a configuration that the container runtime reads first, until it is gone', async () => {
  await keeper.start();
  await keeper.open();
  const other = join(conf, '05-other.conflist');
  writeFileSync(other, JSON.stringify({ plugins: [{ type: 'other' }] }));
  await eventually(() => expect(causes()).toEqual([['Node/node1', 'cni-configuration-foreign']]));
  await eventually(() =>
    expect(reported.at(-1)).toEqual([
      `the CNI configuration ${other} comes before 10-ovn-kubernetes.conflist: the container runtime calls other for new pods`,
    ]),
  );
  rmSync(other);
  await eventually(() => expect(reported.at(-1)).toEqual([]));
  expect(causes()).toEqual([]);
});

it('reports a folder that cannot be written, and tries again', async () => {
  writeFileSync(bin, 'a file where the folder should be');
  await keeper.start();
  expect(causes()).toEqual([['Node/node1', 'cni-not-installed']]);
  expect(reported.at(-1)?.[0]).toContain(`the CNI plugin cannot be written to ${bin}: `);
  rmSync(bin);
  mkdirSync(bin);
  await clock.advance(1_000);
  await eventually(() => expect(existsSync(plugin())).toBe(true));
  await eventually(() => expect(causes()).toEqual([]));
});
