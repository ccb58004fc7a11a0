/** Networks and claims that an API server took under earlier or other definitions, and that ours refuse. */
import { afterEach, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { ipamClaim, layer2Udn, nad, netConf, node, pod, tenant, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { withoutRules } from '../testing/without-rules.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());
const { annotation, condition, addressOf, eventsAbout } = observe(() => cluster);

const layer3 = (subnets: readonly object[], more: object = {}) => ({
  topology: 'Layer3',
  layer3: { role: 'Primary', subnets, ...more },
});

it.each([
  [
    'parts of nodes that are no /64',
    layer3([{ cidr: 'fd00:20::/48', hostSubnet: 80 }]),
    'fd00:20::/48/80',
    'HostSubnet must be 64 for ipv6 CIDR',
  ],
  [
    'an MTU that is too small for IPv6',
    layer3([{ cidr: 'fd00:20::/48' }, { cidr: 'fd00:21::/48' }], { mtu: 1000 }),
    'fd00:20::/48,fd00:21::/48',
    'MTU should be greater than or equal to 1280 when IPv6 subnet is used',
  ],
])('one with %s stays, says what is wrong, and no pod is given anything of it', async (_, spec, subnets, message) => {
  cluster = await createTestCluster();
  await cluster.create(tenant('old'), tenant('new'), node('n1'));
  await withoutRules(cluster, 'userdefinednetworks.k8s.ovn.org', async () => cluster.create(udn('old/net', spec)));
  const { metadata } = (await cluster.get('UserDefinedNetwork', 'old/net')) ?? { metadata: { uid: '' } };
  const owner = { apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', name: 'net', uid: metadata.uid ?? '' };
  const mtu = spec.layer3 as { readonly mtu?: number };
  await cluster.create(
    nad('old/net', netConf('old/net', 'old_net', { topology: 'layer3', subnets, ...(mtu.mtu && { mtu: mtu.mtu }) }), {
      ownerReferences: [{ ...owner, controller: true }],
      annotations: { 'k8s.ovn.org/network-id': '7', 'k8s.ovn.org/network-name': 'old_net' },
    }),
  );
  cluster.start();
  await cluster.createAndSettle(pod('old/web'), layer2Udn('new/net', ['10.21.0.0/16']), pod('new/web'));
  expect(await condition('UserDefinedNetwork', 'old/net')).toMatchObject({
    status: 'False',
    reason: 'SyncError',
    message: expect.stringContaining(message),
  });
  expect(await cluster.get('NetworkAttachmentDefinition', 'old/net')).toBeDefined();
  expect(JSON.parse((await annotation('Node', 'n1', 'node-subnets')) ?? '{}')).not.toHaveProperty('old_net');
  expect(await addressOf('old/web', 'old/net')).toBeUndefined();
  // Others go on, and its id is kept for it.
  expect(await addressOf('new/web', 'new/net')).toBe('10.21.0.3/16');
  expect(await annotation('NetworkAttachmentDefinition', 'old/net', 'network-id')).toBe('7');
});

it('a claim that is wrong keeps the addresses of its status, over a restart, too', async () => {
  cluster = await createTestCluster();
  const persistent = { ipam: { lifecycle: 'Persistent' } };
  await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16'], persistent));
  await withoutRules(cluster, 'ipamclaims.k8s.cni.cncf.io', async () => {
    await cluster.create(ipamClaim('ns/old', 'ns_net', { ipRequests: ['10.20.0.3'] }));
    await cluster.patch('IPAMClaim', 'ns/old', { status: { ips: ['10.20.0.3/16'] } }, 'status');
  });
  cluster.start();
  await cluster.createAndSettle(pod('ns/a'));
  expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.4/16');
  expect(eventsAbout('old')).toEqual([expect.stringContaining('ErrorAllocatingIPs: spec.ipRequests[0]')]);
  await cluster.delete('IPAMClaim', 'ns/old');
  await cluster.createAndSettle(pod('ns/b'));
  expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.3/16');
});
