import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { foreignConfigurations } from './foreign-configuration.ts';

const OWN = '10-ovn-kubernetes.conflist';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foreign-cni-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, content: unknown): void =>
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
const found = async () =>
  (await foreignConfigurations(folder, OWN)).map(({ file, plugins }) => [file.slice(folder.length + 1), plugins]);

it('names those that runtimes read first, with their plugins', async () => {
  put('05-cilium.conflist', { plugins: [{ type: 'cilium-cni' }] });
  put('10-kindnet.conflist', { plugins: [{ type: 'ptp' }, { type: 'portmap' }] });
  put('00-bridge.conf', { type: 'bridge' });
  put('01-broken.json', '{');
  expect(await found()).toEqual([
    ['00-bridge.conf', ['bridge']],
    ['01-broken.json', []],
    ['05-cilium.conflist', ['cilium-cni']],
    ['10-kindnet.conflist', ['ptp', 'portmap']],
  ]);
});

it('leaves out later ones, other files, Multus, and what calls our plugin', async () => {
  put('99-loopback.conf', { type: 'loopback' });
  put(OWN, { plugins: [{ type: 'ovn-k8s-cni-overlay' }] });
  put('05-cilium.conflist.bak', { plugins: [{ type: 'cilium-cni' }] });
  put('00-multus.conf', { type: 'multus-shim', clusterNetwork: 'ovn-kubernetes' });
  put('01-own.conf', { type: 'ovn-k8s-cni-overlay' });
  expect(await found()).toEqual([]);
});
