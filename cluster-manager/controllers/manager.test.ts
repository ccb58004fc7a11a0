import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { cudn, layer2Udn, layer3Udn, nad, namespace, netConf, node, pod, tenant, udn } from '../testing/objects.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await createTestCluster();
});
afterEach(() => cluster.close());

const annotation = async (kind: string, key: string, name: string): Promise<string | undefined> =>
  (await cluster.get(kind, key))?.metadata.annotations?.[`k8s.ovn.org/${name}`];

const condition = async (kind: string, key: string, type = 'NetworkCreated') => {
  const object = await cluster.get(kind, key);
  const status = object?.['status'] as {
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
  return status?.conditions?.find((one) => one.type === type);
};

const entryOf = async (key: string, nadKey: string) =>
  JSON.parse((await annotation('Pod', key, 'pod-networks')) ?? '{}')[nadKey];

const addressOf = async (key: string, nadKey: string): Promise<string | undefined> =>
  (await entryOf(key, nadKey))?.ip_addresses?.[0];

const eventsAbout = (name: string): string[] =>
  cluster.events
    .filter(({ regarding }) => regarding.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);

const PRIMARY = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16'] } };
const TEAM_A = { matchLabels: { team: 'a' } };

describe('a UserDefinedNetwork', () => {
  it('on layer 2 gets a NAD, ids and addresses for its pods', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.settled();
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
    await cluster.create(tenant('ns'), node('n1'), layer3Udn('ns/net', ['10.20.0.0/16']));
    await cluster.settled();
    await cluster.create(node('n2'));
    await cluster.settled();
    expect(await annotation('Node', 'n1', 'node-subnets')).toBe(
      '{"default":["10.128.0.0/23"],"ns_net":["10.20.0.0/24"]}',
    );
    expect(await annotation('Node', 'n2', 'node-subnets')).toBe(
      '{"default":["10.128.2.0/23"],"ns_net":["10.20.1.0/24"]}',
    );
    expect(await annotation('Node', 'n2', 'node-id')).toBe('3');
    expect(await annotation('Node', 'n2', 'node-transit-switch-port-ifaddr')).toBe(
      '{"ipv4":"100.88.0.3/16","ipv6":"fd97::3/64"}',
    );
    await cluster.delete('Node', 'n1');
    await cluster.settled();
    await cluster.create(node('n3'));
    await cluster.settled();
    expect(await annotation('Node', 'n3', 'node-subnets')).toBe(
      '{"default":["10.128.0.0/23"],"ns_net":["10.20.0.0/24"]}',
    );
    expect(await annotation('Node', 'n3', 'node-id')).toBe('2');
  });

  it('that runs out of subnets says so, and recovers when subnets are added', async () => {
    cluster.start();
    const subnets = [{ cidr: '10.20.0.0/23', hostSubnet: 24 }];
    await cluster.create(
      tenant('ns'),
      tenant('other'),
      ...['n1', 'n2', 'n3'].map((name) => node(name)),
      udn('ns/net', { topology: 'Layer3', layer3: { role: 'Primary', subnets } }),
      layer3Udn('other/net', ['10.21.0.0/16']),
    );
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'InternalError',
      message: expect.stringMatching(
        /^Network allocation failed for at least one node: n[123], check UDN events for more info.$/,
      ),
    });
    expect(eventsAbout('net')[0]).toMatch(/^NetworkAllocationFailed: Error occurred for node n.: no subnet left in/);
    expect(await condition('UserDefinedNetwork', 'other/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
    await cluster.patch('UserDefinedNetwork', 'ns/net', {
      spec: { layer3: { subnets: [...subnets, { cidr: '10.22.0.0/16', hostSubnet: 24 }] } },
    });
    await cluster.settled();
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

  it('that is wrong says so and stops no other', async () => {
    cluster.start();
    await cluster.create(
      ...['a', 'b', 'c', 'd'].map((name) => tenant(name)),
      layer3Udn('a/net', ['10.128.0.0/16']),
      layer3Udn('b/net', ['10.20.0.5/16']),
      layer2Udn('c/net', ['10.20.0.0/16'], { ipam: { mode: 'Disabled' } }),
      layer2Udn('d/net', ['10.20.0.0/16']),
    );
    await cluster.settled();
    const messages = await Promise.all(['a', 'b', 'c', 'd'].map((ns) => condition('UserDefinedNetwork', `${ns}/net`)));
    expect(messages.map((one) => `${one?.status} ${one?.reason}: ${one?.message}`)).toEqual([
      'False SyncError: failed to generate NetworkAttachmentDefinition: user defined subnet "10.128.0.0/16" overlaps cluster subnet "10.128.0.0/14"',
      'False SyncError: failed to generate NetworkAttachmentDefinition: spec.layer3.subnets[0].cidr: "10.20.0.5/16" has host bits set, the network is 10.20.0.0/16',
      'False SyncError: failed to generate NetworkAttachmentDefinition: spec.layer2.subnets: Subnets must be unset when ipam.mode is Disabled; spec.layer2.ipam.mode: Disabled ipam.mode is only supported for Secondary network',
      'True NetworkAttachmentDefinitionCreated: NetworkAttachmentDefinition has been created',
    ]);
    expect(cluster.events.map(({ regarding }) => regarding.namespace).sort()).toEqual(['a', 'b', 'c']);
    await cluster.delete('UserDefinedNetwork', 'b/net');
    await cluster.settled();
    expect(await cluster.get('UserDefinedNetwork', 'b/net')).toBeUndefined();
  });

  it('needs the label of its namespace, and gets its NAD when the label is there', async () => {
    cluster.start();
    await cluster.create(namespace('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('invalid primary network state for namespace "ns"'),
    });
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    await cluster.patch('Namespace', 'ns', {
      metadata: { labels: { 'k8s.ovn.org/primary-user-defined-network': '' } },
    });
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
    expect(await addressOf('ns/p', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('does not take a NAD of somebody else, and makes its own when that is gone', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), nad('ns/net', { type: 'macvlan' }), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.settled();
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toBe(
      'foreign NetworkAttachmentDefinition with the desired name already exist [ns/net]',
    );
    await cluster.delete('NetworkAttachmentDefinition', 'ns/net');
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
  });

  it('is the only primary one of its namespace; the next one follows when it is gone', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/a', ['10.20.0.0/16']), layer2Udn('ns/b', ['10.21.0.0/16']));
    await cluster.settled();
    const both = await Promise.all(['a', 'b'].map((name) => condition('UserDefinedNetwork', `ns/${name}`)));
    expect(both.map((one) => one?.status).sort()).toEqual(['False', 'True']);
    const [winner, loser] = both[0]?.status === 'True' ? ['a', 'b'] : ['b', 'a'];
    expect((await condition('UserDefinedNetwork', `ns/${loser}`))?.message).toBe(
      `primary network already exist in namespace "ns": "${winner}"`,
    );
    await cluster.delete('UserDefinedNetwork', `ns/${winner}`);
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', `ns/${loser}`)).toMatchObject({ status: 'True' });
    expect(await annotation('NetworkAttachmentDefinition', `ns/${loser}`, 'network-id')).toBe('1');
  });

  it('puts its NAD back when somebody edits it, and keeps the ids on it', async () => {
    cluster.start();
    const labelled = { ...layer2Udn('ns/net', ['10.20.0.0/16']) };
    await cluster.create(tenant('ns'), { ...labelled, metadata: { ...labelled.metadata, labels: { tier: 'gold' } } });
    await cluster.settled();
    const before = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    await cluster.patch('NetworkAttachmentDefinition', 'ns/net', {
      metadata: { labels: { tier: null }, annotations: { 'k8s.ovn.org/network-id': '77' } },
      spec: { config: '{"type":"macvlan"}' },
    });
    await cluster.settled();
    const after = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    expect([after?.['spec'], after?.metadata.labels, after?.metadata.annotations]).toEqual([
      before?.['spec'],
      before?.metadata.labels,
      before?.metadata.annotations,
    ]);
    await cluster.patch('UserDefinedNetwork', 'ns/net', { metadata: { labels: { tier: null, zone: 'z' } } });
    await cluster.settled();
    expect((await cluster.get('NetworkAttachmentDefinition', 'ns/net'))?.metadata.labels).toEqual({
      zone: 'z',
      'k8s.ovn.org/user-defined-network': '',
    });
  });

  it('makes its NAD again when somebody deletes it, once no pod uses it', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.settled();
    const before = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    await cluster.delete('NetworkAttachmentDefinition', 'ns/net');
    await cluster.settled();
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toBe(
      'NetworkAttachmentDefinition [ns/net] is being deleted and will be created again: network in use by the following pods: [ns/p]',
    );
    await cluster.delete('Pod', 'ns/p');
    await cluster.settled();
    const after = await cluster.get('NetworkAttachmentDefinition', 'ns/net');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({ status: 'True' });
  });

  it('is deleted when its last pod is gone, and leaves nothing behind', async () => {
    cluster.start();
    await cluster.create(
      tenant('ns'),
      node('n1'),
      layer3Udn('ns/l3', ['10.20.0.0/16']),
      layer2Udn('ns/l2', ['10.21.0.0/16'], { role: 'Secondary' }),
      pod('ns/a', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'l2' } }),
      pod('ns/b', { annotations: { 'k8s.ovn.org/pod-networks': '{"ns/l2":{"mac_address":"0a:58:0a:15:00:09"}}' } }),
    );
    await cluster.settled();
    await cluster.delete('UserDefinedNetwork', 'ns/l2');
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'ns/l2')).toMatchObject({
      status: 'False',
      reason: 'SyncError',
      message:
        'failed to delete NetworkAttachmentDefinition [ns/l2]: network in use by the following pods: [ns/a ns/b]',
    });
    await cluster.delete('Pod', 'ns/a');
    await cluster.settled();
    expect((await condition('UserDefinedNetwork', 'ns/l2'))?.message).toContain('following pods: [ns/b]');
    await cluster.patch('Pod', 'ns/b', { status: { phase: 'Succeeded' } }, 'status');
    await cluster.delete('UserDefinedNetwork', 'ns/l3');
    await cluster.settled();
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    expect(await annotation('Node', 'n1', 'node-subnets')).toBe('{"default":["10.128.0.0/23"]}');
    await cluster.create(layer2Udn('ns/next', ['10.22.0.0/16']));
    await cluster.settled();
    expect(await annotation('NetworkAttachmentDefinition', 'ns/next', 'network-id')).toBe('1');
  });

  it('is not deleted while a pod has an annotation that can not be read', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.create(pod('ns/p', { annotations: { 'k8s.ovn.org/pod-networks': '{"' } }));
    await cluster.settled();
    expect(eventsAbout('p')[0]).toContain(
      'ErrorAllocatingPod: annotation k8s.ovn.org/pod-networks of Pod ns/p: not JSON',
    );
    await cluster.delete('UserDefinedNetwork', 'ns/net');
    await cluster.settled();
    expect((await condition('UserDefinedNetwork', 'ns/net'))?.message).toContain('[ns/p]');
    await cluster.delete('Pod', 'ns/p');
    await cluster.settled();
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
  });
});

describe('a ClusterUserDefinedNetwork', () => {
  it('has a NAD in every namespace that it selects, and one network for all', async () => {
    cluster.start();
    await cluster.create(
      tenant('b', { team: 'a' }),
      tenant('a', { team: 'a' }),
      tenant('c'),
      cudn('blue', TEAM_A, PRIMARY),
      pod('a/p'),
      pod('b/p'),
    );
    await cluster.settled();
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'True',
      message: 'NetworkAttachmentDefinition has been created in following namespaces: [a, b]',
    });
    expect(
      await Promise.all(['a', 'b'].map((ns) => annotation('NetworkAttachmentDefinition', `${ns}/blue`, 'network-id'))),
    ).toEqual(['1', '1']);
    expect([await addressOf('a/p', 'a/blue'), await addressOf('b/p', 'b/blue')].sort()).toEqual([
      '10.30.0.3/16',
      '10.30.0.4/16',
    ]);
    await cluster.patch('Namespace', 'c', { metadata: { labels: { team: 'a' } } });
    await cluster.settled();
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toContain('[a, b, c]');
  });

  it('leaves a namespace that it does not select any more, when no pod uses it there', async () => {
    cluster.start();
    await cluster.create(
      tenant('a', { team: 'a' }),
      tenant('b', { team: 'a' }),
      cudn('blue', TEAM_A, PRIMARY),
      pod('b/p'),
    );
    await cluster.settled();
    for (const ns of ['a', 'b']) await cluster.patch('Namespace', ns, { metadata: { labels: { team: 'x' } } });
    await cluster.settled();
    expect(await cluster.get('NetworkAttachmentDefinition', 'a/blue')).toBeUndefined();
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'False',
      reason: 'NetworkAttachmentDefinitionSyncError',
      message: 'failed to delete NetworkAttachmentDefinition [b/blue]: network in use by the following pods: [b/p]',
    });
    await cluster.delete('Pod', 'b/p');
    await cluster.settled();
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    expect(await condition('ClusterUserDefinedNetwork', 'blue')).toMatchObject({
      status: 'True',
      message: 'NetworkAttachmentDefinition has been created in following namespaces: []',
    });
  });

  it('names every namespace that went wrong, and is there in the others', async () => {
    cluster.start();
    await cluster.create(
      tenant('a', { team: 'a' }),
      namespace('b', { team: 'a' }),
      tenant('c', { team: 'a' }),
      nad('c/own', netConf('c/own', 'c_own')),
      cudn('blue', TEAM_A, PRIMARY),
    );
    await cluster.settled();
    const { status, message } = (await condition('ClusterUserDefinedNetwork', 'blue')) ?? {};
    expect(status).toBe('False');
    expect(message).toContain('invalid primary network state for namespace "b"');
    expect(message).toContain('primary network already exist in namespace "c": "own"');
    expect(await annotation('NetworkAttachmentDefinition', 'a/blue', 'network-name')).toBe('cluster_udn_blue');
  });

  it('keeps what it has when an edit makes it unreadable', async () => {
    cluster.start();
    await cluster.create(tenant('a', { team: 'a' }), cudn('blue', TEAM_A, PRIMARY));
    await cluster.settled();
    await cluster.patch('ClusterUserDefinedNetwork', 'blue', {
      spec: { network: { layer2: { subnets: ['nonsense'] } } },
    });
    await cluster.settled();
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toBe(
      'failed to generate NetworkAttachmentDefinition: spec.network.layer2.subnets[0]: "nonsense" is not a CIDR',
    );
    expect(await cluster.get('NetworkAttachmentDefinition', 'a/blue')).toBeDefined();
  });

  it('says what is not supported yet', async () => {
    cluster.start();
    const localnet = { role: 'Secondary', physicalNetworkName: 'p', subnets: ['10.0.0.0/16'] };
    await cluster.create(tenant('a', { team: 'a' }), cudn('blue', TEAM_A, { topology: 'Localnet', localnet }));
    await cluster.settled();
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toBe(
      'failed to generate NetworkAttachmentDefinition: topology Localnet is not supported yet',
    );
  });

  it('lets a namespace go that is deleted together with its pods', async () => {
    cluster.start();
    await cluster.create(
      tenant('a', { team: 'a' }),
      tenant('b', { team: 'a' }),
      cudn('blue', TEAM_A, PRIMARY),
      pod('a/p'),
    );
    await cluster.settled();
    await cluster.delete('Namespace', 'a');
    await cluster.settled();
    await cluster.delete('Pod', 'a/p').catch(() => {});
    await cluster.settled();
    expect(await cluster.get('Namespace', 'a')).toBeUndefined();
    expect((await condition('ClusterUserDefinedNetwork', 'blue'))?.message).toContain('namespaces: [b]');
  });

  it('is deleted with all its NADs', async () => {
    cluster.start();
    await cluster.create(tenant('a', { team: 'a' }), tenant('b', { team: 'a' }), cudn('blue', TEAM_A, PRIMARY));
    await cluster.settled();
    await cluster.delete('ClusterUserDefinedNetwork', 'blue');
    await cluster.settled();
    expect(await cluster.list('ClusterUserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
  });
});

describe('a NAD that was written by hand', () => {
  it('gets the ids of its network', async () => {
    cluster.start();
    await cluster.create(
      namespace('ns'),
      nad('ns/net', netConf('ns/net', 'tenantred', { role: 'secondary' })),
      nad('ns/other', { type: 'macvlan' }),
    );
    await cluster.settled();
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'network-id')).toBe('1');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'tunnel-keys')).toBeUndefined();
    expect((await cluster.get('NetworkAttachmentDefinition', 'ns/other'))?.metadata.annotations).toBeUndefined();
  });

  it('hears what is wrong with it', async () => {
    cluster.start();
    await cluster.create(
      tenant('ns'),
      nad('ns/bad', netConf('ns/bad', 'bad', { role: 'Primary' })),
      nad('ns/one', netConf('ns/one', 'shared', { role: 'secondary' })),
    );
    await cluster.settled();
    await cluster.create(
      nad('ns/two', netConf('ns/two', 'shared', { role: 'secondary', subnets: '10.9.0.0/16' })),
      nad('ns/first', netConf('ns/first', 'first')),
    );
    await cluster.settled();
    expect(eventsAbout('bad')).toContain('InvalidNetwork: invalid network role value Primary');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/two', 'network-id')).toBeUndefined();
    expect([...eventsAbout('one'), ...eventsAbout('two')]).toEqual([
      expect.stringMatching(
        /^InvalidNetwork: CNI config does not match that of network shared, which ns\/one defines$/,
      ),
    ]);
  });
});

describe('a pod', () => {
  it('on a secondary network gets what it asks for, once per attachment', async () => {
    cluster.start();
    const selection = JSON.stringify([
      { name: 'net', ips: ['100.200.7.7'], mac: '02:00:00:00:00:07' },
      { name: 'net', 'default-route': ['100.200.0.9'] },
    ]);
    await cluster.create(
      namespace('ns'),
      nad('ns/net', netConf('ns/net', 'red', { role: 'secondary' })),
      pod('ns/p', { annotations: { 'k8s.v1.cni.cncf.io/networks': selection } }),
    );
    await cluster.settled();
    expect(await entryOf('ns/p', 'ns/net')).toEqual({
      ip_addresses: ['100.200.7.7/16'],
      mac_address: '02:00:00:00:00:07',
      ip_address: '100.200.7.7/16',
      tunnel_id: 10,
      role: 'secondary',
    });
    expect(await entryOf('ns/p', 'ns/net/1')).toMatchObject({
      ip_addresses: ['100.200.0.1/16'],
      gateway_ip: '100.200.0.9',
      tunnel_id: 11,
    });
  });

  it('may ask for its address on the primary network', async () => {
    cluster.start();
    const wanted = '[{"name":"default","namespace":"ovn-kubernetes","ips":["10.20.5.5"],"mac":"02:00:00:00:00:05"}]';
    await cluster.create(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/p', { annotations: { 'v1.multus-cni.io/default-network': wanted } }),
    );
    await cluster.settled();
    expect(await entryOf('ns/p', 'ns/net')).toMatchObject({
      ip_address: '10.20.5.5/16',
      mac_address: '02:00:00:00:00:05',
    });
  });

  it('hears why it gets nothing', async () => {
    cluster.start();
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'net' };
    await cluster.create(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/a', { annotations }),
      pod('ns/b', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'a/b/c/d' } }),
      pod('ns/c', { annotations: { 'v1.multus-cni.io/default-network': 'x/y' } }),
    );
    await cluster.settled();
    expect(eventsAbout('a')).toContain(
      'ErrorAllocatingPod: unexpected primary network "ns_net" specified with a NetworkSelectionElement ns/net',
    );
    expect(eventsAbout('b')[0]).toContain('annotation k8s.v1.cni.cncf.io/networks of Pod ns/b: "a/b/c/d" is not');
    expect(eventsAbout('c')[0]).toContain('unexpected default NSE namespace "x", expected "ovn-kubernetes"');
    expect(await addressOf('ns/a', 'ns/net')).toBeDefined();
    expect(await addressOf('ns/c', 'ns/net')).toBeUndefined();
  });

  it('waits for an address until one is free', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/29']));
    await cluster.settled();
    for (const name of ['a', 'b', 'c', 'd']) {
      await cluster.create(pod(`ns/${name}`));
      await cluster.settled();
    }
    await cluster.create(pod('ns/e'));
    await cluster.settled();
    expect(await addressOf('ns/d', 'ns/net')).toBe('10.20.0.6/29');
    expect(eventsAbout('e')).toEqual([
      'ErrorAllocatingPod: network ns_net: subnet 10.20.0.0/29 has no free address left',
    ]);
    await cluster.patch('Pod', 'ns/b', { status: { phase: 'Failed' } }, 'status');
    await cluster.settled();
    expect(await addressOf('ns/e', 'ns/net')).toBe('10.20.0.4/29');
    await cluster.delete('Pod', 'ns/b');
    await cluster.create(pod('ns/f'));
    await cluster.settled();
    expect(await addressOf('ns/f', 'ns/net')).toBeUndefined();
  });

  it('gives its address back when another pod takes its name', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.settled();
    await cluster.delete('Pod', 'ns/p');
    await cluster.create(pod('ns/p'));
    await cluster.settled();
    expect(await entryOf('ns/p', 'ns/net')).toMatchObject({ ip_address: '10.20.0.3/16', tunnel_id: 10 });
    expect(cluster.manager.state?.pods.sizeOf('ns_net')).toBe(1);
  });

  it('is left alone on the host network, before it has a node, and on layer 3', async () => {
    cluster.start();
    await cluster.create(
      tenant('l2'),
      tenant('l3'),
      layer2Udn('l2/net', ['10.20.0.0/16']),
      layer3Udn('l3/net', ['10.20.0.0/16']),
      pod('l2/host', {}, { hostNetwork: true }),
      pod('l2/pending', {}, { nodeName: undefined }),
      pod('l3/p'),
    );
    await cluster.settled();
    for (const key of ['l2/host', 'l2/pending', 'l3/p']) {
      expect(await annotation('Pod', key, 'pod-networks')).toBeUndefined();
    }
  });

  it('keeps the keys that others write to its annotation at the same time', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.settled();
    await cluster.create(pod('ns/p'));
    await cluster.patch('Pod', 'ns/p', {
      metadata: { annotations: { 'k8s.ovn.org/pod-networks': '{"default":{"mac_address":"0a:58:0a:80:00:03"}}' } },
    });
    await cluster.settled();
    expect(Object.keys(JSON.parse((await annotation('Pod', 'ns/p', 'pod-networks')) ?? '{}')).sort()).toEqual([
      'default',
      'ns/net',
    ]);
  });
});

describe('a restart', () => {
  const everything = async () => {
    const kinds = ['Node', 'Pod', 'NetworkAttachmentDefinition', 'UserDefinedNetwork', 'ClusterUserDefinedNetwork'];
    return (await Promise.all(kinds.map((kind) => cluster.list(kind)))).flat();
  };

  it('changes nothing', async () => {
    cluster.start();
    await cluster.create(
      tenant('a', { team: 'a' }),
      tenant('b'),
      namespace('c'),
      ...['n1', 'n2'].map((name) => node(name)),
      cudn('blue', TEAM_A, PRIMARY),
      layer3Udn('b/net', ['10.20.0.0/16']),
      layer2Udn('c/second', ['10.21.0.0/16'], { role: 'Secondary' }),
      layer2Udn('c/wrong', ['10.128.0.0/16']),
      ...['a/1', 'a/2', 'b/1'].map((key) => pod(key)),
      pod('c/1', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'second' } }),
    );
    await cluster.settled();
    const before = await everything();
    await cluster.stop();
    const start = cluster.observations.length;
    cluster.start();
    await cluster.settled();
    expect(await everything()).toEqual(before);
    const writes = cluster.observations.slice(start).filter(({ source }) => source === 'writer');
    expect(writes).toEqual([]);
  });

  it('gives nothing that was given before to what came meanwhile', async () => {
    cluster.start();
    await cluster.create(tenant('a'), tenant('b'), node('n1'), layer2Udn('a/net', ['10.20.0.0/16']), pod('a/1'));
    await cluster.settled();
    await cluster.stop();
    await cluster.create(
      node('a-new'),
      pod('a/0', { creationTimestamp: undefined }),
      layer3Udn('b/net', ['10.21.0.0/16']),
    );
    await cluster.delete('UserDefinedNetwork', 'a/net').catch(() => {});
    cluster.start();
    await cluster.settled();
    expect(await addressOf('a/1', 'a/net')).toBe('10.20.0.3/16');
    expect(await addressOf('a/0', 'a/net')).toBe('10.20.0.4/16');
    expect(await annotation('Node', 'a-new', 'node-id')).toBe('3');
    expect(await annotation('NetworkAttachmentDefinition', 'b/net', 'network-id')).toBe('2');
  });

  it('reports what two hold, and leaves it with the older', async () => {
    const ids = { 'k8s.ovn.org/node-id': '5', 'k8s.ovn.org/node-subnets': '{"default":["10.128.4.0/23"]}' };
    const held = (ip: string) => ({
      'k8s.ovn.org/pod-networks': JSON.stringify({
        'ns/net': { ip_addresses: [ip], mac_address: '0a:58:64:c8:00:07', tunnel_id: 17, role: 'primary' },
      }),
    });
    const network = (id: string) => ({ 'k8s.ovn.org/network-id': id });
    await cluster.create(
      tenant('ns'),
      node('old', ids),
      node('young', ids),
      nad('ns/net', netConf('ns/net', 'net'), { annotations: network('9') }),
      nad('ns/second', netConf('ns/second', 'second', { role: 'secondary' }), { annotations: network('9') }),
      pod('ns/a', { annotations: held('100.200.0.7/16') }),
      pod('ns/b', { annotations: held('100.200.0.7/16') }),
      pod('ns/c'),
    );
    cluster.start();
    await cluster.settled();
    expect(await annotation('Node', 'old', 'node-id')).toBe('5');
    expect(await annotation('Node', 'young', 'node-id')).toBe('2');
    expect(await annotation('Node', 'young', 'node-subnets')).toBe('{"default":["10.128.0.0/23"]}');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'network-id')).toBe('9');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/second', 'network-id')).toBe('1');
    expect(await addressOf('ns/b', 'ns/net')).toBe('100.200.0.7/16');
    expect(await addressOf('ns/c', 'ns/net')).toBe('100.200.0.3/16');
    expect(eventsAbout('young')).toEqual([
      'AllocationConflict: node id 5 belongs to node old already',
      'AllocationConflict: network default: 10.128.4.0/23 belongs to old already',
    ]);
    expect(eventsAbout('second')).toEqual(['AllocationConflict: network id 9 belongs to network net already']);
    expect(eventsAbout('b')).toEqual([
      'AllocationConflict: network net: address 100.200.0.7 belongs to ns/a (ns/net) already; delete the pod',
      'AllocationConflict: network net: MAC 0a:58:64:c8:00:07 belongs to ns/a (ns/net) already; delete the pod',
      'AllocationConflict: network net: tunnel id 17 belongs to ns/a (ns/net) already; delete the pod',
    ]);
  });

  it('finishes a deletion that began before', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.settled();
    await cluster.delete('UserDefinedNetwork', 'ns/net');
    await cluster.settled();
    await cluster.stop();
    await cluster.delete('Pod', 'ns/p');
    cluster.start();
    await cluster.settled();
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
  });

  it('lets a NAD go whose network is gone', async () => {
    const owner = {
      apiVersion: 'k8s.ovn.org/v1',
      kind: 'UserDefinedNetwork',
      name: 'net',
      uid: 'gone',
      controller: true,
    };
    const metadata = {
      finalizers: ['k8s.ovn.org/user-defined-network-protection'],
      ownerReferences: [owner],
    };
    await cluster.create(tenant('ns'), nad('ns/net', netConf('ns/net', 'ns_net'), metadata));
    await cluster.delete('NetworkAttachmentDefinition', 'ns/net').catch(() => {});
    cluster.start();
    await cluster.settled();
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
  });
});
