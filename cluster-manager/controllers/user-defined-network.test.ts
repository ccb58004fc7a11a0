import { describe, expect, it } from 'vitest';
import { layer2Udn, layer3Udn, nad, namespace, netConf, node, pod, tenant, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';
import { withoutRules } from '../testing/without-rules.ts';

const { cluster } = clusterPerTest();

const { annotation, condition, entryOf, addressOf, eventsAbout } = observe(() => cluster);

describe('a UserDefinedNetwork', () => {
  it('on layer 2 gets a NAD, ids and addresses for its pods', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'True',
      reason: 'NetworkAttachmentDefinitionCreated',
      message: 'NetworkAttachmentDefinition has been created',
    });
    expect(await condition('UserDefinedNetwork', 'ns/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
      message: 'Network allocation succeeded for all synced nodes.',
    });
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'network-id')).toBe('1');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'network-name')).toBe('ns_net');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'tunnel-keys')).toBe('[16711684,16715779]');
    expect(await entryOf('ns/p', 'ns/net')).toEqual({
      ip_addresses: ['10.20.0.3/16'],
      mac_address: '0a:58:0a:14:00:03',
      gateway_ips: ['10.20.0.1'],
      routes: [
        { dest: '172.16.1.0/24', nextHop: '10.20.0.1' },
        { dest: '100.65.0.0/16', nextHop: '10.20.0.1' },
      ],
      ip_address: '10.20.0.3/16',
      gateway_ip: '10.20.0.1',
      tunnel_id: 10,
      role: 'primary',
    });
  });

  it('on layer 3 gets a subnet per node, of old nodes and new ones, until the node goes', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer3Udn('ns/net', ['10.20.0.0/16']));
    await cluster.createAndSettle(node('n2'));
    expect(await annotation('Node', 'n1', 'node-subnets')).toBe(
      '{"default":["10.128.0.0/23"],"ns_net":["10.20.0.0/24"]}',
    );
    expect(await annotation('Node', 'n2', 'node-subnets')).toBe(
      '{"default":["10.128.2.0/23"],"ns_net":["10.20.1.0/24"]}',
    );
    expect(await annotation('Node', 'n2', 'node-id')).toBe('3');
    expect(await annotation('Node', 'n2', 'node-transit-switch-port-ifaddr')).toBe('{"ipv4":"100.88.0.3/16"}');
    await cluster.deleteAndSettle('Node', 'n1');
    await cluster.createAndSettle(node('n3'));
    expect(await annotation('Node', 'n3', 'node-subnets')).toBe(
      '{"default":["10.128.0.0/23"],"ns_net":["10.20.0.0/24"]}',
    );
    expect(await annotation('Node', 'n3', 'node-id')).toBe('2');
  });

  it('that runs out of subnets says so, and recovers when subnets are added', async () => {
    cluster.start();
    const subnets = [{ cidr: '10.20.0.0/23', hostSubnet: 24 }];
    await cluster.createAndSettle(
      tenant('ns'),
      tenant('other'),
      ...['n1', 'n2', 'n3'].map((name) => node(name)),
      udn('ns/net', { topology: 'Layer3', layer3: { role: 'Primary', subnets } }),
      layer3Udn('other/net', ['10.21.0.0/16']),
    );
    expect(await condition('UserDefinedNetwork', 'ns/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'InternalError',
      message: expect.stringMatching(
        /^Network allocation failed for at least one node: n[123], check UDN events for more info.$/,
      ),
    });
    expect(eventsAbout('net')[0]).toMatch(
      /^NetworkAllocationFailed: Error occurred for node (n.): error allocating network for node \1: no subnet left in/,
    );
    expect(await condition('UserDefinedNetwork', 'other/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
    await cluster.patchAndSettle('UserDefinedNetwork', 'ns/net', {
      spec: { layer3: { subnets: [...subnets, { cidr: '10.22.0.0/16', hostSubnet: 24 }] } },
    });
    expect(await condition('UserDefinedNetwork', 'ns/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
    const texts = await Promise.all(['n1', 'n2', 'n3'].map((name) => annotation('Node', name, 'node-subnets')));
    expect(texts.map((text) => JSON.parse(text ?? '{}').ns_net[0]).sort()).toEqual([
      '10.20.0.0/24',
      '10.20.1.0/24',
      '10.22.0.0/24',
    ]);
  });

  it('with host bits in its subnets is the network without them, and an event says which', async () => {
    cluster.start();
    const joinSubnets = ['100.70.0.1/16', 'fd70::1/64'];
    await cluster.createAndSettle(
      ...['a', 'b'].map((name) => tenant(name)),
      node('n1'),
      layer3Udn('a/net', ['10.20.100.0/16', 'fd20::5/48'], { joinSubnets }),
      layer2Udn('b/net', ['10.21.100.0/16', 'fd21::5/64']),
      pod('b/p'),
    );
    const config = async (key: string) => {
      const written = await cluster.get('NetworkAttachmentDefinition', key);
      return JSON.parse((written?.['spec'] as { config?: string } | undefined)?.config ?? '{}');
    };
    expect(await config('a/net')).toMatchObject({
      subnets: '10.20.0.0/16,fd20::/48',
      joinSubnet: '100.70.0.0/16,fd70::/64',
    });
    expect(await config('b/net')).toMatchObject({ subnets: '10.21.0.0/16,fd21::/64' });
    expect(await condition('UserDefinedNetwork', 'a/net')).toMatchObject({ status: 'True' });
    expect(JSON.parse((await annotation('Node', 'n1', 'node-subnets')) ?? '')).toMatchObject({
      a_net: ['10.20.0.0/24', 'fd20::/64'],
    });
    expect(await addressOf('b/p', 'b/net')).toBe('10.21.0.3/16');
    expect(eventsAbout('net')).toEqual(
      expect.arrayContaining([
        'SubnetNormalized: spec.layer3.subnets[0].cidr: "10.20.100.0/16" has host bits set, the network is 10.20.0.0/16',
        'SubnetNormalized: spec.layer3.joinSubnets[1]: "fd70::1/64" has host bits set, the network is fd70::/64',
        'SubnetNormalized: spec.layer2.subnets[1]: "fd21::5/64" has host bits set, the network is fd21::/64',
      ]),
    );
    expect(eventsAbout('net')).toHaveLength(6);
    expect(new Set(cluster.events.map(({ reason, type }) => `${type} ${reason}`))).toEqual(
      new Set(['Normal SubnetNormalized']),
    );
  });

  it('that is wrong says so and stops no other', async () => {
    cluster.start();
    await withoutRules(cluster, 'userdefinednetworks.k8s.ovn.org', () =>
      cluster.createAndSettle(
        ...['a', 'b', 'c', 'd'].map((name) => tenant(name)),
        layer3Udn('a/net', ['10.128.0.0/16']),
        layer3Udn('b/net', ['10.20.0.5/33']),
        layer2Udn('c/net', ['10.20.0.0/16'], { ipam: { mode: 'Disabled' } }),
        layer2Udn('d/net', ['10.20.0.0/16']),
      ),
    );
    const messages = await Promise.all(['a', 'b', 'c', 'd'].map((ns) => condition('UserDefinedNetwork', `${ns}/net`)));
    expect(messages.map((one) => `${one?.status} ${one?.reason}: ${one?.message}`)).toEqual([
      'False SyncError: failed to generate NetworkAttachmentDefinition: user defined subnet "10.128.0.0/16" overlaps cluster subnet "10.128.0.0/14"',
      'False SyncError: failed to generate NetworkAttachmentDefinition: spec.layer3.subnets[0].cidr: CIDR is invalid: "10.20.0.5/33" has a prefix length above 32',
      'False SyncError: failed to generate NetworkAttachmentDefinition: spec.layer2.subnets: Subnets must be unset when ipam.mode is Disabled; spec.layer2.ipam.mode: Disabled ipam.mode is only supported for Secondary network',
      'True NetworkAttachmentDefinitionCreated: NetworkAttachmentDefinition has been created',
    ]);
    expect(cluster.events.map(({ regarding }) => regarding.namespace).sort()).toEqual(['a', 'b', 'c']);
    await cluster.deleteAndSettle('UserDefinedNetwork', 'b/net');
    expect(await cluster.get('UserDefinedNetwork', 'b/net')).toBeUndefined();
  });

  it('needs the label of its namespace, and gets its NAD when the label is there', async () => {
    cluster.start();
    await cluster.createAndSettle(namespace('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('invalid primary network state for namespace "ns"'),
    });
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    await cluster.patchAndSettle('Namespace', 'ns', {
      metadata: { labels: { 'k8s.ovn.org/primary-user-defined-network': '' } },
    });
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
    expect(await addressOf('ns/p', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('does not take a NAD of somebody else, and makes its own when that is gone', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      nad('ns/net', { type: 'macvlan' }),
      layer2Udn('ns/net', ['10.20.0.0/16']),
    );
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toBe(
      'foreign NetworkAttachmentDefinition with the desired name already exist [ns/net]',
    );
    await cluster.deleteAndSettle('NetworkAttachmentDefinition', 'ns/net');
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
  });

  it('is the only primary one of its namespace; the next one follows when it is gone', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/a', ['10.20.0.0/16']),
      layer2Udn('ns/b', ['10.21.0.0/16']),
    );
    const both = await Promise.all(['a', 'b'].map((name) => condition('UserDefinedNetwork', `ns/${name}`)));
    expect(both.map((one) => one?.status).sort()).toEqual(['False', 'True']);
    const [winner, loser] = both[0]?.status === 'True' ? ['a', 'b'] : ['b', 'a'];
    expect((await condition('UserDefinedNetwork', `ns/${loser}`))?.message).toBe(
      `primary network already exist in namespace "ns": "${winner}"`,
    );
    await cluster.deleteAndSettle('UserDefinedNetwork', `ns/${winner}`);
    expect(await condition('UserDefinedNetwork', `ns/${loser}`)).toMatchObject({ status: 'True' });
    expect(await annotation('NetworkAttachmentDefinition', `ns/${loser}`, 'network-id')).toBe('2');
  });

  it('waits for a primary NAD that nobody can use, too, and follows when it is gone', async () => {
    cluster.start();
    const wrong = netConf('ns/hand', 'hand', { netAttachDefName: '/hand' });
    await cluster.createAndSettle(tenant('ns'), nad('ns/hand', wrong), layer2Udn('ns/net', ['10.20.0.0/16']));
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'False',
      reason: 'SyncError',
      message: 'primary network already exist in namespace "ns": "hand"',
    });
    expect((await cluster.list('NetworkAttachmentDefinition')).length).toBe(1);
    await cluster.deleteAndSettle('NetworkAttachmentDefinition', 'ns/hand');
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
  });

  it('puts its NAD back when somebody edits it, and keeps the ids on it', async () => {
    cluster.start();
    const labelled = { ...layer2Udn('ns/net', ['10.20.0.0/16']) };
    await cluster.createAndSettle(tenant('ns'), {
      ...labelled,
      metadata: { ...labelled.metadata, labels: { tier: 'gold' } },
    });
    const before = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    await cluster.patchAndSettle('NetworkAttachmentDefinition', 'ns/net', {
      metadata: { labels: { tier: null }, annotations: { 'k8s.ovn.org/network-id': '77' } },
      spec: { config: '{"type":"macvlan"}' },
    });
    const after = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    expect([after?.['spec'], after?.metadata.labels, after?.metadata.annotations]).toEqual([
      before?.['spec'],
      before?.metadata.labels,
      before?.metadata.annotations,
    ]);
    await cluster.patchAndSettle('UserDefinedNetwork', 'ns/net', { metadata: { labels: { tier: null, zone: 'z' } } });
    expect((await cluster.get('NetworkAttachmentDefinition', 'ns/net'))?.metadata.labels).toEqual({
      zone: 'z',
      'k8s.ovn.org/user-defined-network': '',
    });
  });

  it('makes its NAD again when somebody deletes it, once no pod uses it', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    const before = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    await cluster.deleteAndSettle('NetworkAttachmentDefinition', 'ns/net');
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toBe(
      'NetworkAttachmentDefinition [ns/net] is being deleted and will be created again: network in use by the following pods: [ns/p]',
    );
    await cluster.deleteAndSettle('Pod', 'ns/p');
    const after = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
  });

  it('is deleted when its last pod is gone, and leaves nothing behind', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      node('n1'),
      layer3Udn('ns/l3', ['10.20.0.0/16']),
      layer2Udn('ns/l2', ['10.21.0.0/16'], { role: 'Secondary' }),
      pod('ns/a', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'l2' } }),
      pod('ns/b', { annotations: { 'k8s.ovn.org/pod-networks': '{"ns/l2":{"mac_address":"0a:58:0a:15:00:09"}}' } }),
    );
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/l2');
    expect(await condition('UserDefinedNetwork', 'ns/l2')).toMatchObject({
      status: 'False',
      reason: 'SyncError',
      message:
        'failed to delete NetworkAttachmentDefinition [ns/l2]: network in use by the following pods: [ns/a ns/b]',
    });
    await cluster.deleteAndSettle('Pod', 'ns/a');
    expect((await condition('UserDefinedNetwork', 'ns/l2'))?.message).toContain('following pods: [ns/b]');
    await cluster.patch('Pod', 'ns/b', { status: { phase: 'Succeeded' } }, 'status');
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/l3');
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    expect(await annotation('Node', 'n1', 'node-subnets')).toBe('{"default":["10.128.0.0/23"]}');
    await cluster.createAndSettle(layer2Udn('ns/next', ['10.22.0.0/16']));
    expect(await annotation('NetworkAttachmentDefinition', 'ns/next', 'network-id')).toBe('3');
  });

  it('that another finalizer holds names it, and goes the moment that is gone', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    const hold = (finalizers: readonly string[]) =>
      cluster.patch('NetworkAttachmentDefinition', 'ns/net', { metadata: { finalizers } });
    await hold(['k8s.ovn.org/user-defined-network-protection', 'example.com/hold']);
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/net');
    const message =
      'failed to delete NetworkAttachmentDefinition [ns/net]: waiting for foreign finalizers: [example.com/hold]';
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'False',
      reason: 'SyncError',
      message,
    });
    await hold([]);
    await cluster.settled();
    expect(await cluster.get('UserDefinedNetwork', 'ns/net')).toBeUndefined();
  });

  it('is not deleted while a pod has an annotation that can not be read', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.createAndSettle(pod('ns/p', { annotations: { 'k8s.ovn.org/pod-networks': '{"' } }));
    expect(eventsAbout('p')[0]).toContain(
      'ErrorAllocatingPod: annotation k8s.ovn.org/pod-networks of Pod ns/p: not JSON',
    );
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/net');
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toContain('[ns/p]');
    await cluster.deleteAndSettle('Pod', 'ns/p');
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
  });
});
