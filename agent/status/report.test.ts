import { describe, expect, it } from 'vitest';
import { networkStatusSchema, nodeStatusSchema, podStatusSchema } from '../../api/agent-status.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { DONE, type Status } from '../../base/reconciler.ts';
import { AttachmentRegistry } from '../cni/attachments/registry.ts';
import type { PortSpec } from '../cni/ovs-ports.ts';
import { TestCluster } from '../testing/cluster.ts';
import { FakePorts } from '../testing/fake-ports.ts';
import { fakeReconciler } from '../testing/fake-reconciler.ts';
import { type ReportSources, reportNetworks, reportNode, reportPods } from './report.ts';
import { noPolicies } from './testing/no-policies.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .namespace('red', true)
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });

const sourcesOf = (it: TestCluster, states: Readonly<Record<string, Status>> = {}, unused: readonly string[] = []) => {
  it.engine.flush();
  const registry = new AttachmentRegistry();
  for (const [owner, attachments] of it.sinks.attachments) registry.set(owner, attachments);
  const ports = new FakePorts();
  const northbound = fakeReconciler({
    status: (owner) => states[owner] ?? DONE,
    problems: () => Object.entries(states).map(([owner, status]) => ({ owner, isDesired: true, status })),
  });
  const sources: ReportSources = {
    ...noPolicies,
    node: 'node1',
    facts: it.facts,
    registry,
    ports,
    podFailures: { of: () => undefined, entries: () => [] },
    shortageOf: () => undefined,
    statusProblemOf: () => undefined,
    isHere: (network) => !unused.includes(network),
    ownersOfNetwork: (network) => [`layer3:${network}`, `network-nodes:node1/${network}`],
    diagnostics: it.engine.diagnostics,
    components: () => [],
    inputProblems: () => [],
    unreachable: () => [],
    cluster: parseClusterConfig(),
    desiredFor: () => [],
    reconcilers: new Map([['northbound', northbound]]),
    kept: [],
    networkOf: () => undefined,
  };
  return { ...sources, ports };
};

const addressed = {
  node: 'node1',
  networks: {
    default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' as const },
    'red/net': { ips: ['10.20.1.3/24'], role: 'primary' as const },
  },
};

const portOf = (logicalPort: string, name: string, podUid = 'uid-a'): PortSpec =>
  ({ name, logicalPort, podUid, sandbox: 'sandbox1' }) as PortSpec;

const FAILED = {
  uid: undefined,
  command: 'ADD',
  cause: 'kernel',
  message: 'no such device',
  isWaiting: false,
} as const;

describe('networks', () => {
  it('that are not on this node as nothing here uses them are ready, and say so', () => {
    expect(reportNetworks(sourcesOf(cluster(), {}, ['red_net']))).toMatchObject([
      { name: 'default', state: 'ready' },
      { name: 'red_net', state: 'ready', message: 'not on this node, unused here' },
    ]);
  });

  it('say which part is this node’s and how many pods they have, the default one first', () => {
    expect(reportNetworks(sourcesOf(cluster().pod('red/a', addressed)))).toMatchObject([
      { name: 'default', id: 0, pods: 1, nodeSubnets: ['10.128.0.0/23'], state: 'ready' },
      {
        name: 'red_net',
        nads: ['red/net'],
        subnets: [expect.stringMatching(/^10\.20\.0\.0\/16/)],
        nodeSubnets: ['10.20.1.0/24'],
        pods: 1,
        state: 'ready',
      },
    ]);
  });

  it('wait for this node’s part', () => {
    const it = cluster();
    it.facts.set('nodeSubnets', 'node1/red_net', undefined);
    expect(reportNetworks(sourcesOf(it))[1]).toMatchObject({
      state: 'pending',
      message: 'the cluster manager has not allocated a subnet of it for this node',
    });
  });

  it('are in error when any of their parts is, and say why', () => {
    const sources = sourcesOf(cluster(), {
      'layer3:red_net': { kind: 'pending' },
      'network-nodes:node1/red_net': { kind: 'failed', message: 'no such column' },
    });
    expect(reportNetworks(sources)[1]).toMatchObject({ state: 'error', message: 'no such column' });
  });
});

describe('a pod says what it waits for', () => {
  const statusOf = (sources: ReportSources) => reportPods(sources).map((pod) => podStatusSchema.parse(pod))[0];

  it('its namespace’s network', () => {
    const it = new TestCluster('node1')
      .node('node1', { subnets: { default: ['10.128.0.0/23'] } })
      .namespace('red', true);
    expect(statusOf(sourcesOf(it.pod('red/a', { node: 'node1', networks: {} })))).toMatchObject({
      state: 'pending',
      message: expect.stringContaining('no primary network'),
      attachments: [],
    });
  });

  it('addresses', () =>
    expect(statusOf(sourcesOf(cluster().pod('red/a', { node: 'node1', networks: {} })))).toMatchObject({
      state: 'pending',
      message: 'it has no address on network default yet',
    }));

  it('the runtime, then ovn-controller; then it is ready', async () => {
    const sources = sourcesOf(cluster().pod('red/a', addressed));
    expect(statusOf(sources)?.message).toBe(
      'it has no port: the container runtime has not called CNI ADD yet, or its interfaces were removed',
    );
    expect(statusOf({ ...sources, podFailures: { of: () => FAILED, entries: () => [] } })?.message).toBe(
      'it has no port: CNI ADD failed: no such device',
    );
    sources.ports.installs = false;
    await sources.ports.plug([portOf('red_a', 'one'), portOf('red.net_red_a', 'one_1')]);
    expect(statusOf(sources)?.message).toBe('ovn-controller has not installed port red_a yet');
    sources.ports.installs = true;
    await sources.ports.unplug(['one', 'one_1']);
    await sources.ports.plug([portOf('red_a', 'one'), portOf('red.net_red_a', 'one_1')]);
    expect(statusOf(sources)).toMatchObject({
      state: 'ready',
      attachments: [
        { network: 'default', role: 'infrastructure-locked', interface: 'eth0', hostInterface: 'one', installed: true },
        { network: 'red_net', role: 'primary', interface: 'ovn-udn1', hostInterface: 'one_1', installed: true },
      ],
    });
    const unwritten = 'k8s.v1.cni.cncf.io/network-status cannot be written: denied';
    expect(statusOf({ ...sources, statusProblemOf: () => unwritten })).toMatchObject({
      state: 'ready',
      unreported: unwritten,
    });
  });

  it('ports of a predecessor of the same name do not count', async () => {
    const sources = sourcesOf(cluster().pod('red/a', addressed));
    await sources.ports.plug([
      portOf('red_a', 'one', 'uid-of-before'),
      portOf('red.net_red_a', 'one_1', 'uid-of-before'),
    ]);
    expect(statusOf(sources)?.state).toBe('pending');
  });
});

it('an attachment without IPAM lacks nothing, and a pod that is on a network twice is one of its pods', async () => {
  const bare = { id: 9, topology: 'layer2', role: 'secondary', subnets: [], namespace: 'red', nad: 'bare' } as const;
  const networks = {
    ...addressed.networks,
    'red/bare': { ips: [], tunnelId: 10 },
    'red/bare/1': { ips: [], tunnelId: 11 },
  };
  const it = cluster().network('red_bare', bare).pod('red/a', { node: 'node1', selects: 'bare,bare', networks });
  const sources = sourcesOf(it);
  await sources.ports.plug(
    ['red_a', 'red.net_red_a', 'red.bare_red_a', 'red.bare.1_red_a'].map((port, index) => portOf(port, `p_${index}`)),
  );
  const [pod] = reportPods(sources);
  expect(pod?.attachments[2]).toMatchObject({ network: 'red_bare', addresses: [], mac: '0a:58:00:00:00:01' });
  expect([pod?.state, pod?.message]).toEqual(['ready', undefined]);
  expect(reportNetworks(sources).find(({ name }) => name === 'red_bare')).toMatchObject({ pods: 1, state: 'ready' });
});

it('a network counts pods that run there and wait for another one', () => {
  const flat = { id: 9, topology: 'layer2', subnets: ['10.9.0.0/24'], namespace: 'red', nad: 'flat' } as const;
  const networks = { ...addressed.networks, 'red/flat': { ips: ['10.9.0.3/24'], tunnelId: 10 } };
  const it = cluster()
    .network('red_flat', { ...flat, role: 'secondary' })
    .pod('red/a', { node: 'node1', selects: 'flat,odd', networks });
  it.facts.set('nadProblem', 'red/odd', { message: 'it is somebody else’s', contradicts: false });
  const sources = sourcesOf(it);
  expect(reportPods(sources)[0]?.message).toBe('it is somebody else’s');
  expect(reportNetworks(sources).find(({ name }) => name === 'red_flat')).toMatchObject({ pods: 1 });
});

it('a secondary network is ready as far as what makes it is, and a localnet where its physical network is mapped', () => {
  const secondary = { role: 'secondary', subnets: ['10.9.0.0/24'], namespace: 'red' } as const;
  const it = cluster()
    .network('red_flat', { ...secondary, id: 8, topology: 'layer2', nad: 'flat' })
    .network('red_wide', { ...secondary, id: 9, topology: 'layer3', nad: 'wide' })
    .network('red_phys', { ...secondary, id: 10, topology: 'localnet', nad: 'phys' });
  const failed = { 'layer3:red_flat': { kind: 'failed', message: 'no such table' } } as const;
  const states = reportNetworks(sourcesOf(it, failed)).map(({ name, state, message }) => [name, state, message]);
  expect(states.slice(2)).toEqual([
    ['red_flat', 'error', 'no such table'],
    ['red_wide', 'pending', 'the cluster manager has not allocated a subnet of it for this node'],
    [
      'red_phys',
      'error',
      'network red_phys is not on node node1: ovn-bridge-mappings of its Open vSwitch has no bridge for physical network physnet',
    ],
  ]);
  it.mapped('physnet', 'br-ex');
  expect(reportNetworks(sourcesOf(it)).find(({ name }) => name === 'red_phys')?.state).not.toBe('error');
});

describe('the node', () => {
  it('has no gateway while none is known', () =>
    expect(nodeStatusSchema.parse(reportNode(sourcesOf(cluster())))).toEqual({ name: 'node1' }));

  it('has its gateway bridge', () => {
    const it = cluster();
    it.gateway('node1', { addresses: ['172.20.0.11/24'] });
    expect(nodeStatusSchema.parse(reportNode(sourcesOf(it)))).toMatchObject({
      name: 'node1',
      gateway: { mode: 'shared', addresses: [expect.any(String)] },
    });
  });
});

it('a primary network has a masquerade address for each end', () =>
  expect(reportNetworks(sourcesOf(cluster())).map((one) => networkStatusSchema.parse(one).masquerade)).toEqual([
    undefined,
    { gateway: expect.arrayContaining([expect.any(String)]), management: expect.arrayContaining([expect.any(String)]) },
  ]));
