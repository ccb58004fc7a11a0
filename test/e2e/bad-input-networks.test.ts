/** Networks that cannot be: each says why, and all others go on. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ManifestObject, Objects, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startCluster } from './support/cluster/cluster.ts';
import { clusterNetwork, layer2, layer3, nad, namespace, pod } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { untilNothingLeaks } from './support/faults/leaks.ts';
import { requireReachability } from './support/faults/reachability.ts';

let sandbox: Sandbox;
let objects: Objects;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-bad-networks', nodes: 3, settings: { UDN_CNI_WAIT: '4' } });
  objects = await sandbox.objects();
  await objects.apply([
    namespace('good'),
    layer3('good', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    pod('good', 'good-1', 'node-1'),
    pod('good', 'good-2', 'node-2'),
  ]);
  await Promise.all(['good/good-1', 'good/good-2'].map((key) => objects.wait('pod', key, 'ready')));
});
afterAll(() => sandbox?.down());

/** A pod of a network that was there before, made now, works as ever: on both nodes, IPv4 and IPv6. */
const requireOthersGoOn = async (): Promise<void> => {
  const manifest = pod('good', 'good-later', 'node-2');
  await objects.apply([manifest]);
  await objects.wait('pod', 'good/good-later', 'ready', { timeoutSeconds: 5 });
  const text = (await objects.get('pod', 'good/good-later')).metadata.annotations?.['k8s.ovn.org/pod-networks'];
  const entry = z.record(z.string(), z.object({ ip_addresses: z.array(z.string()) })).parse(JSON.parse(text ?? ''));
  const addresses = entry['good/net']?.ip_addresses.map((address) => address.split('/')[0] ?? '') ?? [];
  expect(addresses).toHaveLength(2);
  // The userspace datapath loses the first packet to another node, while it asks for the tunnel's MAC address.
  await Promise.all(
    addresses.map((to) => eventually(() => sandbox.exec('good/good-1', ['ping', '-c1', '-W1', to]), 5_000)),
  );
  await objects.delete([manifest]);
};

const conditionOf = async (kind: string, name: string, type: string) => {
  const { status } = z
    .object({ status: z.object({ conditions: z.array(conditionSchema).default([]) }).default({ conditions: [] }) })
    .parse(await objects.get(kind, name));
  return status.conditions.find((condition) => condition.type === type);
};

const conditionSchema = z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() });

const isRefused = (kind: string, name: string, message: RegExp, type = 'NetworkCreated'): Promise<void> =>
  eventually(async () => {
    const condition = await conditionOf(kind, name, type);
    expect(condition).toMatchObject({ status: 'False', message: expect.stringMatching(message) });
  });

describe('a network that cannot be', () => {
  it.each<[string, ManifestObject, RegExp]>([
    [
      'with an address that is none',
      layer3('bad', 'a', ['999.1.0.0/16/24']),
      /subnets\[0\]\.cidr: Invalid value: "999\.1\.0\.0\/16": CIDR is invalid/,
    ],
    ['with nodes larger than the network', layer3('bad', 'c', ['10.1.0.0/24/16']), /HostSubnet must be smaller than/],
  ])('%s is refused when it is applied, and others go on', async (_, network, message) => {
    await expect(objects.apply([namespace('bad'), network])).rejects.toThrow(message);
    await requireOthersGoOn();
  });

  it.each<[string, ManifestObject, RegExp]>([
    [
      'that overlaps the cluster network',
      layer3('bad', 'd', ['10.129.0.0/16/24']),
      /overlaps cluster subnet "10\.128\.0\.0\/14"/,
    ],
    ['that overlaps the cluster network, IPv6', layer3('bad', 'e', ['fd00:10:128::/56/64']), /overlaps cluster subnet/],
    [
      'that overlaps the Services',
      layer3('bad', 'f', ['10.96.0.0/12/24']),
      /overlaps service subnet "10\.96\.0\.0\/16"/,
    ],
    [
      'that overlaps the default join subnet',
      layer3('bad', 'g', ['100.64.0.0/20/24']),
      /overlaps .*join subnet "100\.64\.0\.0\/16"/,
    ],
    [
      'that overlaps the join subnet of networks',
      layer2('bad', 'h', ['100.65.4.0/24']),
      /overlaps .*join subnet "100\.65\.0\.0\/16"/,
    ],
    [
      'that overlaps the transit subnet',
      layer3('bad', 'i', ['100.88.0.0/16/24']),
      /overlaps transit switch subnet "100\.88\.0\.0\/16"/,
    ],
    [
      'that overlaps the masquerade subnet',
      layer2('bad', 'j', ['169.254.0.0/18']),
      /overlaps masquerade subnet "169\.254\.0\.0\/17"/,
    ],
    ['that overlaps the masquerade subnet, IPv6', layer2('bad', 'k', ['fd69::/112']), /overlaps masquerade subnet/],
  ])('%s says so, and others go on', async (_, network, message) => {
    await objects.apply([namespace('bad'), network]);
    const name = `${network.metadata.namespace}/${network.metadata.name}`;
    await isRefused('udn', name, message);
    await requireOthersGoOn();
    await objects.delete([network]);
  });

  it('keeps only its own pods waiting, and they start when it is mended', async () => {
    await objects.apply([namespace('bad'), layer3('bad', 'net', ['10.96.7.0/24/28']), pod('bad', 'bad-1', 'node-1')]);
    await isRefused('udn', 'bad/net', /overlaps service subnet/);
    await eventually(async () =>
      expect((await eventsOf(sandbox, 'bad', 'bad-1')).map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/no primary network yet/),
      ),
    );
    await requireOthersGoOn();
    await objects.delete([layer3('bad', 'net', [])]);
    await objects.apply([layer3('bad', 'net', ['10.67.0.0/16/24', 'fd00:67::/48/64'])]);
    await objects.wait('pod', 'bad/bad-1', 'ready', { timeoutSeconds: 10 });
    await objects.delete([pod('bad', 'bad-1', 'node-1'), layer3('bad', 'net', [])]);
  });
});

describe('subnets that are used up', () => {
  it('of nodes: the network says which node has none; the other one’s pods work, and so do those of other networks', async () => {
    await objects.apply([namespace('tight'), layer3('tight', 'net', ['10.68.0.0/23/24'])]);
    await isRefused('udn', 'tight/net', /failed for at least one node: node-[123]/, 'NetworkAllocationSucceeded');
    const { message } = (await conditionOf('udn', 'tight/net', 'NetworkAllocationSucceeded')) ?? { message: '' };
    const without = /node-[123]/.exec(message)?.[0] ?? '';
    const withOne = without === 'node-1' ? 'node-2' : 'node-1';
    await objects.apply([pod('tight', 'tight-1', withOne), pod('tight', 'tight-2', without)]);
    await objects.wait('pod', 'tight/tight-1', 'ready', { timeoutSeconds: 10 });
    await eventually(async () =>
      expect((await eventsOf(sandbox, 'tight', 'tight-2')).map(({ message: text }) => text)).toContainEqual(
        expect.stringMatching(new RegExp(`node ${without} has no subnet of network tight_net yet`)),
      ),
    );
    await requireOthersGoOn();
    await objects.delete([pod('tight', 'tight-1', withOne), pod('tight', 'tight-2', without)]);
    await objects.delete([layer3('tight', 'net', [])]);
  });

  it.each([
    ['layer 3', layer3('full', 'net', ['10.69.0.0/24/29'])],
    ['layer 2', layer2('full', 'net', ['10.69.0.0/29'])],
  ])('of pods, on %s: the pod says so, and gets the next address that becomes free', async (_, network) => {
    await objects.apply([namespace('full'), network]);
    await objects.wait('udn', 'full/net', 'condition=NetworkCreated');
    // Of eight addresses: the network's, the gateway's, the management port's, and the broadcast address.
    const pods = [1, 2, 3, 4, 5, 6].map((index) => pod('full', `full-${index}`, 'node-1'));
    await objects.apply(pods);
    const waiting = await eventually(async () => {
      const ready = await Promise.all(pods.map(({ metadata }) => isReady(`full/${metadata.name}`)));
      expect(ready.filter(Boolean).length).toBeGreaterThanOrEqual(4);
      const names = pods.filter((__, index) => ready[index] !== true).map(({ metadata }) => metadata.name ?? '');
      for (const name of names) {
        expect((await eventsOf(sandbox, 'full', name)).map(({ reason }) => reason)).toContain('ErrorAllocatingPod');
      }
      return names;
    });
    expect(waiting.length).toBeGreaterThanOrEqual(1);
    await requireOthersGoOn();
    const ready = pods.filter(({ metadata }) => !waiting.includes(metadata.name ?? ''));
    await objects.delete(ready.slice(0, waiting.length));
    await Promise.all(waiting.map((name) => objects.wait('pod', `full/${name}`, 'ready', { timeoutSeconds: 15 })));
    await objects.delete(pods);
    await objects.delete([network]);
  });
});

describe('two networks with the same name', () => {
  const conf = (inNamespace: string, more: object = {}) => ({
    cniVersion: '1.1.0',
    name: 'good_net',
    type: 'ovn-k8s-cni-overlay',
    netAttachDefName: `${inNamespace}/net`,
    topology: 'layer3',
    role: 'primary',
    subnets: '10.71.0.0/16/24',
    ...more,
  });
  const isReported = (inNamespace: string, name: string, message: RegExp): Promise<void> =>
    eventually(async () =>
      expect(await eventsOf(sandbox, inNamespace, name)).toContainEqual(
        expect.objectContaining({ type: 'Warning', message: expect.stringMatching(message) }),
      ),
    );

  it('a NAD that contradicts a network that exists: the NAD gets an event, the network stays as it is', async () => {
    await objects.apply([namespace('twin'), nad('twin', 'net', conf('twin'))]);
    await isReported('twin', 'net', /network name good_net belongs to UserDefinedNetwork good\/net/);
    await objects.apply([pod('twin', 'twin-1', 'node-1')]);
    await eventually(async () =>
      expect((await eventsOf(sandbox, 'twin', 'twin-1')).map(({ reason }) => reason)).toContain('ErrorAttachingPod'),
    );
    await requireOthersGoOn();
    await objects.delete([pod('twin', 'twin-1', 'node-1'), nad('twin', 'net', '')]);
  });

  it('a UserDefinedNetwork whose name is that of a NAD by hand: the UserDefinedNetwork says so', async () => {
    await objects.apply([namespace('taken'), nad('taken', 'net', conf('taken', { name: 'by-hand' }))]);
    await objects.apply([layer3('taken', 'net', ['10.72.0.0/16/24'])]);
    await isRefused('udn', 'taken/net', /foreign NetworkAttachmentDefinition .* already exist \[taken\/net\]/);
    await requireOthersGoOn();
    await objects.delete([layer3('taken', 'net', []), nad('taken', 'net', '')]);
  });

  it('a ClusterUserDefinedNetwork and a UserDefinedNetwork for one namespace: the later one says so', async () => {
    await objects.apply([namespace('both', { team: 'both' }), layer3('both', 'mine', ['10.73.0.0/16/24'])]);
    await objects.wait('udn', 'both/mine', 'condition=NetworkCreated');
    await objects.apply([clusterNetwork('ours', 'both', ['10.74.0.0/16/24'])]);
    await isRefused('cudn', 'ours', /primary network already exist in namespace "both": "mine"/);
    await objects.apply([clusterNetwork('mine', 'both', ['10.74.0.0/16/24'])]);
    await isRefused('cudn', 'mine', /foreign NetworkAttachmentDefinition .* already exist \[both\/mine\]/);
    await requireOthersGoOn();
    await objects.delete([clusterNetwork('mine', 'both', []), clusterNetwork('ours', 'both', [])]);
    await objects.delete([layer3('both', 'mine', [])]);
  });

  it('two whose OVN rows would have the same names: the later one gets the reason', async () => {
    await objects.apply([
      namespace('dots', { team: 'dots' }),
      namespace('dashes', { team: 'dashes' }),
      clusterNetwork('a-b', 'dashes', ['10.75.0.0/16/24']),
    ]);
    await objects.wait('cudn', 'a-b', 'condition=NetworkCreated');
    await objects.apply([clusterNetwork('a.b', 'dots', ['10.76.0.0/16/24'])]);
    await isReported('dots', 'a.b', /its OVN rows would have the same names as those of network cluster_udn_a-b/);
    await requireOthersGoOn();
    await objects.delete([clusterNetwork('a-b', 'dashes', []), clusterNetwork('a.b', 'dots', [])]);
  });

  it.each([
    ['no JSON', '{'],
    ['a reserved name', JSON.stringify(conf('nads', { name: 'default' }))],
    ['the name of another NAD', JSON.stringify(conf('elsewhere', { name: 'x' }))],
    ['a topology that is none', JSON.stringify(conf('nads', { name: 'x', topology: 'layer9' }))],
    ['subnets that are none', JSON.stringify(conf('nads', { name: 'x', subnets: '10.0.0.0/99' }))],
    ['the subnets of the cluster', JSON.stringify(conf('nads', { name: 'x', subnets: '10.128.0.0/16/24' }))],
  ])('a NAD with %s gets an event, and others go on', async (what, config) => {
    await objects.apply([namespace('nads'), nad('nads', 'net', config)]);
    await isReported('nads', 'net', /./);
    await objects.delete([nad('nads', 'net', '')]);
    expect(what).not.toBe('');
  });
});

it('in the end every pod works, and nothing else is there', async () => {
  await untilNothingLeaks(sandbox);
  expect(await requireReachability(sandbox)).toBeGreaterThan(0);
});

const isReady = async (key: string): Promise<boolean> => {
  const { status } = z
    .object({
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) }),
    })
    .parse(await objects.get('pod', key));
  return status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
};
