/** Pods whose networks have the same addresses, which shows only when a plugin has given its own. */
import { expect, it } from 'vitest';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import { setUp } from '../../testing/cni-handler.ts';
import { ended } from '../../testing/fake-plugins.ts';

/** A pod of the default network, 10.128.0.0/14, on networks whose plugin gives these addresses, one each. */
const withNetworks = (networks: readonly { readonly name: string; readonly address: string }[]) => {
  const it = setUp({ foreignPlugins: parseForeignPlugins('bridge') });
  for (const [index, { name }] of networks.entries())
    it.cluster.foreignNad(`ns/nad${index}`, { type: 'bridge', cniVersion: '1.0.0', name });
  const selects = networks.map((_, index) => `nad${index}`).join();
  it.cluster.pod('ns/a', { node: 'node1', selects, networks: { default: { ips: ['10.128.0.3/23'] } } });
  it.flush();
  it.plugins.answers.set('ADD bridge', () => {
    const index = it.plugins.calls.length - 1;
    const ips = [{ address: networks[index]?.address, interface: 0 }];
    const interfaces = [{ name: it.plugins.calls.at(-1)?.ifName, sandbox: '/proc/1/ns/net' }];
    return ended(JSON.stringify({ cniVersion: '1.0.0', interfaces, ips }));
  });
  return it;
};

it.each([
  [
    'the default network',
    [{ name: 'lan', address: '10.128.7.9/24' }],
    'ns/nad0 as net1: 10.128.7.0/24, which the plugin has given of network lan, overlaps 10.128.0.0/14 of network default: a pod reaches only one of them',
  ],
  [
    'another plugin’s',
    [
      { name: 'lan', address: '10.5.0.7/24' },
      { name: 'wan', address: '10.5.0.130/25' },
    ],
    'ns/nad1 as net2: 10.5.0.128/25, which the plugin has given of network wan, overlaps 10.5.0.0/24 of network lan: a pod reaches only one of them',
  ],
])('are refused beside %s, and nothing of them stays', async (_, networks, message) => {
  const it = withNetworks(networks);
  await expect(it.call('ADD')).rejects.toThrow(message);
  const verbs = it.plugins.calls.map(({ verb }) => verb);
  expect(verbs.filter((verb) => verb === 'DEL')).toHaveLength(networks.length);
});

it.each([
  ['the same one twice', ['10.5.0.7/24', '10.5.0.8/24'], ['lan', 'lan']],
  ['links with link-local addresses', ['fe80::7/64', 'fe80::8/64'], ['lan', 'wan']],
  ['others', ['10.5.0.7/24', '10.6.0.7/24'], ['lan', 'wan']],
])('may have %s', async (_, addresses, names) => {
  const it = withNetworks(addresses.map((address, index) => ({ name: names[index] ?? '', address })));
  await it.call('ADD');
  expect(it.plugins.calls.map(({ verb }) => verb)).not.toContain('DEL');
});
