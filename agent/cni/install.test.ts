import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installConfiguration, installLoopback, installPlugin, uninstall } from './install.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-install-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the plugin is put in its place whole, and only when it differs', async () => {
  const [shim, bin] = [join(folder, 'shim'), join(folder, 'opt', 'bin')];
  writeFileSync(shim, 'one', { mode: 0o755 });
  await installPlugin(shim, bin);
  const target = join(bin, 'ovn-k8s-cni-overlay');
  const { ino, mode } = statSync(target);
  expect(mode & 0o777).toBe(0o755);
  await installPlugin(shim, bin);
  expect(statSync(target).ino).toBe(ino);
  writeFileSync(shim, 'two');
  await installPlugin(shim, bin);
  expect(readFileSync(target, 'utf8')).toBe('two');
  expect(readdirSync(bin)).toEqual(['ovn-k8s-cni-overlay']);
});

it('the configuration names the plugin, and goes again with it', async () => {
  const [shim, bin, conf] = [join(folder, 'shim'), join(folder, 'bin'), join(folder, 'net.d')];
  writeFileSync(shim, 'one');
  await installPlugin(shim, bin);
  await installConfiguration(conf, 'native');
  expect(JSON.parse(readFileSync(join(conf, '10-ovn-kubernetes.conflist'), 'utf8'))).toEqual({
    cniVersion: '1.0.0',
    cniVersions: ['1.0.0', '1.1.0'],
    name: 'ovn-kubernetes',
    plugins: [{ type: 'ovn-k8s-cni-overlay', ipam: {}, dns: {} }],
  });
  writeFileSync(join(conf, '99-other.conf'), '{}');
  await uninstall({ cniBinFolder: bin, cniConfFolder: conf });
  await uninstall({ cniBinFolder: bin, cniConfFolder: conf });
  expect([readdirSync(bin), readdirSync(conf)]).toEqual([[], ['99-other.conf']]);
});

it('under Multus it has no version that the runtime behind it may not know, and is written again with the flag', async () => {
  expect(await installConfiguration(folder, 'native')).toBe(true);
  expect(await installConfiguration(folder, 'delegated')).toBe(true);
  expect(await installConfiguration(folder, 'delegated')).toBe(false);
  expect(JSON.parse(readFileSync(join(folder, '10-ovn-kubernetes.conflist'), 'utf8'))).toMatchObject({
    cniVersion: '1.0.0',
    cniVersions: ['1.0.0'],
  });
});

describe('the plugin loopback', () => {
  const OURS = 'program udn-cni/1 program';
  const install = async (shimText: string): Promise<string> => {
    const shim = join(folder, 'shim');
    writeFileSync(shim, shimText, { mode: 0o755 });
    await installLoopback(shim, join(folder, 'bin'));
    return readFileSync(join(folder, 'bin', 'loopback'), 'utf8');
  };
  const uninstalled = async (): Promise<string[]> => {
    await uninstall({ cniBinFolder: join(folder, 'bin'), cniConfFolder: join(folder, 'net.d') });
    return readdirSync(join(folder, 'bin'));
  };

  it('is the shim where there is none, is replaced by a newer one, and goes with it', async () => {
    expect(await install(OURS)).toBe(OURS);
    const { ino, mode } = statSync(join(folder, 'bin', 'loopback'));
    expect(mode & 0o777).toBe(0o755);
    await install(OURS);
    expect(statSync(join(folder, 'bin', 'loopback')).ino).toBe(ino);
    expect(await install(`${OURS} 2`)).toBe(`${OURS} 2`);
    expect(await uninstalled()).toEqual([]);
  });

  it('of somebody else stays', async () => {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'loopback'), 'of containernetworking');
    expect(await install(OURS)).toBe('of containernetworking');
    expect(await uninstalled()).toEqual(['loopback']);
  });

  it('does not take the place of a link, which may lead to a file of the host', async () => {
    mkdirSync(join(folder, 'bin'));
    const link = join(folder, 'bin', 'loopback');
    symlinkSync(join(folder, 'of the host'), link);
    await expect(install(OURS)).rejects.toThrow('ENOENT');
    expect(readlinkSync(link)).toBe(join(folder, 'of the host'));
    expect(await uninstalled()).toEqual(['loopback']);
  });
});

it('the configuration of an earlier version, which would come first, is taken over', async () => {
  writeFileSync(join(folder, '10-ovn-kubernetes.conf'), JSON.stringify({ type: 'ovn-k8s-cni-overlay' }));
  await installConfiguration(folder, 'native');
  expect(readdirSync(folder)).toEqual(['10-ovn-kubernetes.conflist']);
});

it.each(['10-ovn-kubernetes.conf', '10-ovn-kubernetes.conflist'])(
  '%s of another stays, with the plugin',
  async (name) => {
    writeFileSync(join(folder, name), JSON.stringify({ type: 'something-else' }));
    writeFileSync(join(folder, 'ovn-k8s-cni-overlay'), 'one');
    await uninstall({ cniBinFolder: folder, cniConfFolder: folder });
    expect(readdirSync(folder)).toEqual([name, 'ovn-k8s-cni-overlay']);
  },
);
