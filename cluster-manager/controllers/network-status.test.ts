import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NetworkStatus } from '../../api/network-status.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createTestCluster, type TestCluster, type TestClusterOptions } from '../testing/harness.ts';
import { askPrimary, cudn, ipamClaim, layer2Udn, layer3Udn, node, pod, tenant, udn } from '../testing/objects.ts';
import { usageDelayMs } from './network-usage.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const startCluster = async (options: TestClusterOptions = {}): Promise<void> => {
  cluster = await createTestCluster(options);
  cluster.start();
};

const statusOf = async (kind: string, key: string): Promise<NetworkStatus> =>
  (await cluster.get(kind, key))?.['status'] as NetworkStatus;

/** What it says after a while: how full it is is not written at once. */
const statusWith = async (kind: string, key: string, desired: object): Promise<NetworkStatus> =>
  await vi.waitFor(
    async () => {
      const status = await statusOf(kind, key);
      expect(status).toMatchObject(desired);
      return status;
    },
    { timeout: 10_000, interval: 5 },
  );

/** `type status reason observedGeneration`, by type. */
const conditionsOf = ({ conditions = [] }: NetworkStatus): string[] =>
  conditions
    .map(({ type, status, reason, observedGeneration }) => `${type} ${status} ${reason} ${observedGeneration}`)
    .sort();

const messageOf = ({ conditions = [] }: NetworkStatus, desired: string): string | undefined =>
  conditions.find(({ type }) => type === desired)?.message;

const SHARED = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16'] } };

describe('the status of a network', () => {
  it('on layer 2 says what it got and how full it is', async () => {
    await startCluster();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/29', 'fd00::/64'], { mtu: 1400 }));
    await cluster.createAndSettle(pod('ns/a'), pod('ns/b'));
    const status = await statusWith('UserDefinedNetwork', 'ns/net', {
      networkName: 'ns_net',
      networkID: 1,
      vrf: { name: 'mp1-udn-vrf', table: 100_001 },
      subnets: ['10.20.0.0/29', 'fd00::/64'],
      subnetSummary: '10.20.0.0/29, fd00::/64',
      pods: 2,
      usage: [
        // Of 8: network, broadcast, gateway and management port are nobody's.
        { subnet: '10.20.0.0/29', unit: 'Addresses', used: 2, free: 2 },
        { subnet: 'fd00::/64', unit: 'Addresses', used: 2 },
      ],
    });
    expect(status.usage?.[1]).not.toHaveProperty('free');
    expect(status.nodes).toMatchObject({ total: 1, summary: '0/1', silent: 1 });
    expect(conditionsOf(status)).toEqual([
      'NetworkAllocationSucceeded True NetworkAllocationSucceeded 1',
      'NetworkCreated True NetworkAttachmentDefinitionCreated 1',
      // No agent reports here.
      'NodesReady Unknown NodesSilent 1',
      'Ready Unknown NodesSilent 1',
    ]);
    await cluster.deleteAndSettle('Pod', 'ns/a');
    await statusWith('UserDefinedNetwork', 'ns/net', { pods: 1, usage: [{ used: 1, free: 3 }, {}] });
  });

  it('on layer 3 counts nodes and their subnets, and names those without', async () => {
    await startCluster();
    const subnets = [{ cidr: '10.20.0.0/23', hostSubnet: 24 }];
    await cluster.create(tenant('ns'), ...['n1', 'n2', 'n3'].map((name) => node(name)));
    await cluster.createAndSettle(udn('ns/net', { topology: 'Layer3', layer3: { role: 'Primary', subnets } }));
    const status = await statusWith('UserDefinedNetwork', 'ns/net', {
      subnets: ['10.20.0.0/23/24'],
      nodes: { total: 3, allocated: 2, failed: 1, failures: [{ message: expect.stringContaining('no subnet left') }] },
      usage: [{ subnet: '10.20.0.0/23', unit: 'NodeSubnets', used: 2, free: 0 }],
    });
    const left = status.nodes?.failures?.[0]?.node;
    expect(conditionsOf(status)).toContain('Ready False InternalError 1');
    expect(messageOf(status, 'Ready')).toContain(`at least one node: ${left}`);
    const more = [...subnets, { cidr: '10.22.0.0/16', hostSubnet: 24 }];
    await cluster.patchAndSettle('UserDefinedNetwork', 'ns/net', { spec: { layer3: { subnets: more } } });
    const after = await statusWith('UserDefinedNetwork', 'ns/net', { nodes: { allocated: 3, failed: 0 } });
    expect(after.nodes).toMatchObject({ total: 3, allocated: 3, failed: 0, silent: 3 });
    expect(after.usage).toEqual([
      { subnet: '10.20.0.0/23', unit: 'NodeSubnets', used: 2, free: 0 },
      { subnet: '10.22.0.0/16', unit: 'NodeSubnets', used: 1, free: 255 },
    ]);
    expect(conditionsOf(after)).toContain('NetworkAllocationSucceeded True NetworkAllocationSucceeded 2');
  });

  it('names no more than ten nodes that failed', async () => {
    await startCluster();
    const nodes = Array.from({ length: 14 }, (_, i) => node(`n${i}`));
    const subnets = [{ cidr: '10.20.0.0/23', hostSubnet: 24 }];
    await cluster.create(tenant('ns'), ...nodes);
    await cluster.createAndSettle(udn('ns/net', { topology: 'Layer3', layer3: { role: 'Primary', subnets } }));
    const reportedNodes = { total: 14, allocated: 2, failed: 12 };
    const { nodes: reported } = await statusWith('UserDefinedNetwork', 'ns/net', { nodes: reportedNodes });
    expect(reported?.failures).toHaveLength(10);
  });

  it.each([
    ['NoOverlay', { noOverlay: { outboundSNAT: 'Enabled', routing: 'Managed' } }],
    ['EVPN', { evpn: { vtep: 'v', ipVRF: { vni: 7 } } }],
  ])('refuses transport %s, which is not there yet', async (transport, config) => {
    await startCluster();
    const layer3 = { role: 'Primary', subnets: [{ cidr: '10.30.0.0/16' }] };
    await cluster.createAndSettle(tenant('a'), cudn('red', {}, { topology: 'Layer3', layer3, transport, ...config }));
    const status = await statusOf('ClusterUserDefinedNetwork', 'red');
    expect(conditionsOf(status)).toEqual([
      'NetworkCreated False NetworkAttachmentDefinitionSyncError 1',
      'Ready False NetworkAttachmentDefinitionSyncError 1',
      'TransportAccepted False TransportNotSupported 1',
    ]);
    expect(messageOf(status, 'TransportAccepted')).toBe(`transport '${transport}' is not supported yet`);
    expect(messageOf(status, 'Ready')).toContain(`transport ${transport} is not supported yet`);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
  });

  it('of a wrong network says why it is not ready', async () => {
    await startCluster();
    await cluster.createAndSettle(tenant('ns'), layer3Udn('ns/net', ['10.128.0.0/16']));
    const status = await statusOf('UserDefinedNetwork', 'ns/net');
    expect(conditionsOf(status)).toEqual(['NetworkCreated False SyncError 1', 'Ready False SyncError 1']);
    expect(messageOf(status, 'Ready')).toContain('overlaps cluster subnet');
    expect(status).not.toHaveProperty('networkID');
  });

  it('names what a deletion waits for: ten pods, and how many there are', async () => {
    await startCluster();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']));
    const names = Array.from({ length: 12 }, (_, i) => `ns/p${i}`).sort();
    await cluster.createAndSettle(...names.map((key) => pod(key)));
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/net');
    const status = await statusOf('UserDefinedNetwork', 'ns/net');
    expect(status.blockedBy).toEqual({ pods: 12, names: names.slice(0, 10) });
    expect(conditionsOf(status).filter((text) => !/^(NetworkAllocation|Nodes)/.test(text))).toEqual([
      expect.stringMatching(/^NetworkCreated False SyncError/),
      expect.stringMatching(/^Ready False SyncError/),
    ]);
    expect(messageOf(status, 'Ready')).toContain('network in use by the following pods: [ns/p0 ns/p1 ns/p10');
    for (const key of names) await cluster.delete('Pod', key);
    await cluster.settled();
    expect(await cluster.get('UserDefinedNetwork', 'ns/net')).toBeUndefined();
  });

  it('follows the selector, and what a namespace that left still uses', async () => {
    await startCluster();
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      node('n1'),
      cudn('red', { matchLabels: { team: 'b' } }, SHARED),
    );
    expect(conditionsOf(await statusOf('ClusterUserDefinedNetwork', 'red'))).toContain(
      'Ready False NoNamespaceSelected 1',
    );
    const select = (team: string) =>
      cluster.patch('ClusterUserDefinedNetwork', 'red', { spec: { namespaceSelector: { matchLabels: { team } } } });
    await select('a');
    await cluster.createAndSettle(pod('a/p'));
    const desired = { networkID: 1, vrf: { name: 'red' }, pods: 1 };
    const status = await statusWith('ClusterUserDefinedNetwork', 'red', desired);
    expect(conditionsOf(status)).toContain('NetworkAllocationSucceeded True NetworkAllocationSucceeded 2');
    await select('b');
    await cluster.settled();
    expect((await statusOf('ClusterUserDefinedNetwork', 'red')).blockedBy).toEqual({ pods: 1, names: ['a/p'] });
    await cluster.deleteAndSettle('Pod', 'a/p');
    const free = await vi.waitFor(
      async () => {
        const after = await statusOf('ClusterUserDefinedNetwork', 'red');
        expect(after).not.toHaveProperty('pods');
        return after;
      },
      { timeout: 10_000, interval: 5 },
    );
    expect(conditionsOf(free)).toEqual([
      'NetworkCreated True NetworkAttachmentDefinitionCreated 3',
      'Ready False NoNamespaceSelected 3',
    ]);
    for (const field of ['networkID', 'vrf', 'subnets', 'subnetSummary', 'blockedBy', 'pods'])
      expect(free).not.toHaveProperty(field);
  });

  it('that somebody has filled with nonsense is written again', async () => {
    await startCluster();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.patchAndSettle(
      'UserDefinedNetwork',
      'ns/net',
      { status: { networkID: 77, subnets: ['x'] } },
      'status',
    );
    expect(await statusOf('UserDefinedNetwork', 'ns/net')).toMatchObject({ networkID: 1, subnets: ['10.20.0.0/16'] });
  });
});

describe('how full a network is', () => {
  const statusWrites = () =>
    cluster.observations.filter(
      (one) =>
        one.source === 'writer' && one.about.kind === 'written' && one.about.resource.plural === 'userdefinednetworks',
    ).length;

  it('is written once for many pods, after a while', async () => {
    const clock = createFakeClock();
    await startCluster({ clock });
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await clock.advance(30_000);
    await cluster.settled();
    const before = statusWrites();
    await cluster.createAndSettle(...Array.from({ length: 200 }, (_, i) => pod(`ns/p${i}`)));
    expect(statusWrites() - before).toBe(0);
    await clock.advance(30_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(1);
    expect(await statusOf('UserDefinedNetwork', 'ns/net')).toMatchObject({ pods: 200, usage: [{ used: 200 }] });
    await clock.advance(300_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(1);
  });

  it('counts a pod that came while its NAD had lost its owner', async () => {
    const clock = createFakeClock();
    let repair: Promise<void> | undefined;
    await startCluster({
      clock,
      wire: (client) => ({
        ...client,
        patch: async (...request) => {
          if (request[0].kind === 'NetworkAttachmentDefinition') await repair;
          return await client.patch(...request);
        },
      }),
    });
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']));
    // What was written is looked at once more.
    for (let n = 0; n < 3; n += 1) {
      await clock.advance(30_000);
      await cluster.settled();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    repair = promise;
    await cluster.patch('NetworkAttachmentDefinition', 'ns/net', { metadata: { ownerReferences: null } });
    const entry = { ip_addresses: ['10.20.0.9/16'], mac_address: '0a:58:0a:14:00:09', role: 'primary' };
    const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ 'ns/net': entry }) };
    await cluster.create(pod('ns/p', { annotations }));
    await vi.waitFor(() => expect(cluster.manager.mirrors.caches.pods.has('ns/p')).toBe(true));
    resolve();
    await cluster.settled();
    await clock.advance(30_000);
    await cluster.settled();
    expect(await statusOf('UserDefinedNetwork', 'ns/net')).toMatchObject({ pods: 1, usage: [{ used: 1 }] });
  });

  it('is notified again when a claim without a pod releases its address', async () => {
    const clock = createFakeClock();
    await startCluster({ clock });
    await cluster.create(
      tenant('ns'),
      node('n1'),
      layer2Udn('ns/net', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } }),
    );
    await cluster.create(ipamClaim('ns/c', 'ns_net'), pod('ns/p', askPrimary({ 'ipam-claim-reference': 'c' })));
    const reported = async () => {
      for (let n = 0; n < 4; n += 1) {
        await cluster.settled();
        await clock.advance(30_000);
      }
      await cluster.settled();
      const { pods, usage } = await statusOf('UserDefinedNetwork', 'ns/net');
      return [pods, usage?.[0]?.used];
    };
    expect(await reported()).toEqual([1, 1]);
    await cluster.delete('Pod', 'ns/p');
    expect(await reported()).toEqual([0, 1]);
    await cluster.delete('IPAMClaim', 'ns/c');
    expect(await reported()).toEqual([0, 0]);
  });

  it('is written at most 20 times a second, however many networks there are', async () => {
    await startCluster();
    expect([usageDelayMs(1, () => 0), usageDelayMs(300, () => 1)]).toEqual([15_000, 30_000]);
    for (const networks of [300, 1000, 4095]) expect(networks / (usageDelayMs(networks, () => 0) / 1000)).toBe(20);
  });
});
