import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { installConfiguration } from './install.ts';
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
  keeper = keeperOf('native');
});
afterEach(async () => {
  await keeper.stop();
  rmSync(root, { recursive: true, force: true });
});

const keeperOf = (multiNetwork: 'native' | 'delegated'): PluginKeeper =>
  new PluginKeeper({
    ...{ node: 'node1', shim: join(root, 'shim'), cniBinFolder: bin, cniConfFolder: conf, multiNetwork, clock },
    onProblems: (problems) => reported.push(problems.map(({ message }) => message)),
    onRepaired: (folder) => repaired.push(folder),
  });

const plugin = (): string => join(bin, 'ovn-k8s-cni-overlay');
const configuration = (): string => join(conf, '10-ovn-kubernetes.conflist');
const causes = () => keeper.problems().map(({ object, cause }) => [object, cause]);
const eventually = (look: () => void | Promise<void>): Promise<void> => vi.waitFor(look, 5_000);

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
  await eventually(async () => {
    await clock.advance(1_000);
    expect(readFileSync(plugin(), 'utf8')).toBe('program');
  });
  // It is reported once it is there.
  await eventually(() => expect(repaired).toEqual([conf, bin]));
});

it('keeps a list that others have added to, and writes one that has our plugin no more', async () => {
  await keeper.start();
  await keeper.open();
  const { plugins: own, ...list } = JSON.parse(readFileSync(configuration(), 'utf8'));
  const chained = JSON.stringify({ ...list, plugins: [...own, { type: 'istio-cni' }] });
  writeFileSync(configuration(), chained);
  rmSync(plugin());
  await eventually(() => expect(repaired).toEqual([bin]));
  expect(readFileSync(configuration(), 'utf8')).toBe(chained);
  writeFileSync(configuration(), JSON.stringify({ cniVersion: '1.0.0', name: 'other', plugins: [{ type: 'other' }] }));
  await eventually(async () => {
    await clock.advance(1_000);
    expect(readFileSync(configuration(), 'utf8')).toContain('ovn-k8s-cni-overlay');
  });
});

it('keeps such a list at its start, and writes a list that is cut off', async () => {
  await keeper.start();
  await keeper.open();
  await keeper.stop();
  const { plugins: own, ...list } = JSON.parse(readFileSync(configuration(), 'utf8'));
  const chained = JSON.stringify({ ...list, plugins: [...own, { type: 'istio-cni' }] });
  writeFileSync(configuration(), chained);
  expect(await installConfiguration(conf, 'native')).toBe(false);
  expect(readFileSync(configuration(), 'utf8')).toBe(chained);
  writeFileSync(configuration(), chained.slice(0, -5));
  expect(await installConfiguration(conf, 'native')).toBe(true);
});

it('repairs at a growing distance what another program changes again and again, and reports it', async () => {
  await keeper.start();
  await keeper.open();
  const isPut = () => eventually(() => expect([existsSync(plugin()), clock.pending]).toEqual([true, 1]));
  rmSync(plugin());
  await isPut();
  for (const pause of [1_000, 2_000]) {
    rmSync(plugin());
    await clock.advance(pause - 1);
    expect(existsSync(plugin())).toBe(false);
    await clock.advance(1);
    await isPut();
  }
  await eventually(() => expect(causes()).toEqual([['Node/node1', 'changed-by-others']]));
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

it('reports that Multus is called where it is not expected, and not where it is', async () => {
  await keeper.start();
  await keeper.open();
  expect(causes()).toEqual([]);
  const multus = join(conf, '00-multus.conf');
  writeFileSync(multus, JSON.stringify({ type: 'multus-shim' }));
  const message = `--multi-network is native, and Multus calls for each network of a pod: ${multus}`;
  await eventually(() => expect(reported.at(-1)).toEqual([message]));
  expect(causes()).toEqual([['Node/node1', 'multi-network-mode']]);
  await keeper.stop();
  keeper = keeperOf('delegated');
  await keeper.start();
  await keeper.open();
  expect(causes()).toEqual([]);
  rmSync(multus);
  await eventually(() =>
    expect(reported.at(-1)).toEqual([
      `--multi-network is delegated, and no configuration of Multus comes before 10-ovn-kubernetes.conflist in ${conf}: pods get no networks that they select`,
    ]),
  );
});

it('reports that it cannot tell whether Multus is called', async () => {
  await keeper.start();
  await keeper.open();
  rmSync(conf, { recursive: true });
  writeFileSync(conf, 'a file where the folder should be');
  const message = expect.stringContaining('whether Multus calls for pods cannot be determined: ENOTDIR');
  await eventually(() => expect(reported.at(-1)).toContainEqual(message));
});

it('reports a folder that cannot be written, and tries again', async () => {
  writeFileSync(bin, 'a file where the folder should be');
  await keeper.start();
  expect(causes()).toEqual([['Node/node1', 'cni-not-installed']]);
  expect(reported.at(-1)?.[0]).toContain(`the CNI program cannot be installed in ${bin}: `);
  // No node is ready by a configuration that names what is not there.
  await keeper.open();
  expect(existsSync(configuration())).toBe(false);
  rmSync(bin);
  mkdirSync(bin);
  await clock.advance(2_000);
  await eventually(() => expect([existsSync(plugin()), existsSync(configuration())]).toEqual([true, true]));
  await eventually(() => expect(causes()).toEqual([]));
});

it('does not take its own draft for news while writing fails', async () => {
  // What is written cannot be put in its place: a folder has the name.
  mkdirSync(join(plugin(), 'in the way'), { recursive: true });
  await keeper.start();
  await keeper.open();
  for (const pause of [1_000, 2_000, 4_000]) {
    await eventually(() => expect(clock.pending).toBe(1));
    await clock.advance(pause);
  }
  await eventually(() => expect(clock.pending).toBe(1));
  expect(causes()).toEqual([['Node/node1', 'cni-not-installed']]);
  expect(reported).toHaveLength(1);
});

it('looks again after a pause that has passed while it still looked', async () => {
  mkdirSync(join(plugin(), 'in the way'), { recursive: true });
  vi.spyOn(clock, 'schedule').mockImplementationOnce((_, callback) => {
    queueMicrotask(callback);
    return () => {};
  });
  await keeper.start();
  await eventually(() => expect(clock.pending).toBe(1));
});

it('leaves no timer behind', async () => {
  writeFileSync(bin, 'a file where the folder should be');
  await keeper.start();
  expect(clock.pending).toBe(1);
  await keeper.stop();
  expect(clock.pending).toBe(0);
});
