import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { cudn, layer2Udn, layer3Udn, nad, namespace, netConf, node, pod, tenant, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();

const ZERO_MAC = '[{"namespace":"ovn-kubernetes","name":"default","mac":"00:00:00:00:00:00"}]';

const { annotation, condition, entryOf, addressOf, eventsAbout } = observe(() => cluster);

describe('a NAD that was written by hand', () => {
  it('gets the ids of its network', async () => {
    cluster.start();
    await cluster.createAndSettle(
      namespace('ns'),
      nad('ns/net', netConf('ns/net', 'tenantred', { role: 'secondary' })),
      nad('ns/other', { type: 'macvlan' }),
    );
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'network-id')).toBe('1');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/net', 'tunnel-keys')).toBeUndefined();
    expect((await cluster.get('NetworkAttachmentDefinition', 'ns/other'))?.metadata.annotations).toBeUndefined();
  });

  it('hears what is wrong with it', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      nad('ns/bad', netConf('ns/bad', 'bad', { role: 'Primary' })),
      nad('ns/one', netConf('ns/one', 'shared', { role: 'secondary' })),
    );
    await cluster.createAndSettle(
      nad('ns/two', netConf('ns/two', 'shared', { role: 'secondary', subnets: '10.9.0.0/16' })),
      nad('ns/first', netConf('ns/first', 'first')),
    );
    expect(eventsAbout('bad')).toContain('InvalidNetwork: invalid network role value Primary');
    expect(await annotation('NetworkAttachmentDefinition', 'ns/two', 'network-id')).toBeUndefined();
    expect([...eventsAbout('one'), ...eventsAbout('two')]).toEqual([
      expect.stringMatching(
        /^InvalidNetwork: CNI config does not match that of network shared, which ns\/one defines$/,
      ),
    ]);
  });
});

describe('a secondary network and pods of other namespaces', () => {
  const asking = (key: string, network: string) =>
    pod(key, { annotations: { 'k8s.v1.cni.cncf.io/networks': network } });
  const REFUSED = (network: string, of: string, by: string) =>
    `ErrorAllocatingPod: network ${network} is not for namespace ${by}: NetworkAttachmentDefinition ${of} gives no address to its pods; use one of namespace ${by}`;
  const secondary = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.40.0.0/29'] } };

  it('of one namespace gives them no address, and does not wait for them when it is deleted', async () => {
    cluster.start();
    await cluster.create(namespace('a'), namespace('b'), node('n1'), udn('a/net', secondary));
    await cluster.settled();
    await cluster.create(...['x', 'y', 'z'].map((name) => asking(`b/${name}`, 'a/net')), asking('a/own', 'net'));
    await cluster.settled();
    expect(await addressOf('a/own', 'a/net')).toMatch(/^10\.40\.0\./);
    expect(await addressOf('b/x', 'a/net')).toBeUndefined();
    expect(eventsAbout('x')).toContain(REFUSED('a_net', 'a/net', 'b'));
    await cluster.delete('Pod', 'a/own');
    await cluster.delete('UserDefinedNetwork', 'a/net');
    await cluster.settled();
    expect(await cluster.get('UserDefinedNetwork', 'a/net')).toBeUndefined();
  });

  it('takes back what they had of before', async () => {
    await cluster.create(namespace('a'), namespace('b'), node('n1'), udn('a/net', secondary));
    const entry = { 'a/net': { ip_addresses: ['10.40.0.3/29'], mac_address: '0a:58:0a:28:00:03', role: 'secondary' } };
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'a/net', 'k8s.ovn.org/pod-networks': JSON.stringify(entry) };
    await cluster.create(pod('b/x', { annotations }));
    cluster.start();
    await cluster.settled();
    await cluster.delete('UserDefinedNetwork', 'a/net');
    await cluster.settled();
    expect(await cluster.get('UserDefinedNetwork', 'a/net')).toBeUndefined();
  });

  it('of the cluster is for those that it selects, each by its own NAD', async () => {
    cluster.start();
    const labels = { team: 'a' };
    await cluster.create(
      namespace('a', labels),
      namespace('b'),
      node('n1'),
      cudn('red', { matchLabels: labels }, secondary),
    );
    await cluster.settled();
    await cluster.create(asking('b/x', 'a/red'));
    await cluster.settled();
    expect(await addressOf('b/x', 'a/red')).toBeUndefined();
    expect(eventsAbout('x')).toContain(REFUSED('cluster_udn_red', 'a/red', 'b'));
    await cluster.patch('Namespace', 'b', { metadata: { labels } });
    await cluster.create(asking('b/y', 'red'));
    await cluster.settled();
    expect(await addressOf('b/x', 'a/red')).toBeUndefined();
    expect(await addressOf('b/y', 'b/red')).toMatch(/^10\.40\.0\./);
  });

  it('that was written by hand is for its namespace, in namespace default for all', async () => {
    cluster.start();
    const conf = (key: string, name: string) =>
      nad(key, netConf(key, name, { role: 'secondary', subnets: '10.41.0.0/24' }));
    await cluster.create(namespace('a'), namespace('b'), node('n1'));
    await cluster.create(conf('default/shared', 'shared'), conf('a/own', 'own'));
    await cluster.settled();
    await cluster.create(asking('b/x', 'default/shared'), asking('b/y', 'a/own'));
    await cluster.settled();
    expect(await addressOf('b/x', 'default/shared')).toMatch(/^10\.41\.0\./);
    expect(await addressOf('b/y', 'a/own')).toBeUndefined();
  });
});

describe('a second primary NAD of a namespace', () => {
  const rival = nad('ns/rival', netConf('ns/rival', 'rival'), { creationTimestamp: undefined });
  const isNetwork = (name: string): boolean => cluster.manager.state?.registry.get(name) !== undefined;

  it('is no network: it gets no id, and the network of the namespace names it until it is gone', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.settled();
    await cluster.create(rival);
    await cluster.settled();
    expect(isNetwork('rival')).toBe(false);
    expect(await annotation('NetworkAttachmentDefinition', 'ns/rival', 'network-id')).toBeUndefined();
    expect(eventsAbout('rival')).toEqual([
      'InvalidNetwork: no id for network rival: primary network already exist in namespace "ns": "net"',
    ]);
    expect((await condition('UserDefinedNetwork', 'ns/net', 'Ready'))?.message).toMatch(
      /NetworkAttachmentDefinitions \[ns\/rival\] define a second primary network and are rejected: delete them\.$/,
    );
    await cluster.delete('NetworkAttachmentDefinition', 'ns/rival');
    await cluster.settled();
    expect((await condition('UserDefinedNetwork', 'ns/net', 'Ready'))?.message).not.toContain('rival');
  });

  it('is the network of the namespace once the first is gone', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.settled();
    await cluster.create(rival);
    await cluster.settled();
    await cluster.delete('UserDefinedNetwork', 'ns/net');
    await cluster.settled();
    expect(await annotation('NetworkAttachmentDefinition', 'ns/rival', 'network-id')).toMatch(/^[0-9]+$/);
  });

  it('keeps the id that it has had before', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), rival);
    await cluster.settled();
    const id = await annotation('NetworkAttachmentDefinition', 'ns/rival', 'network-id');
    await cluster.stop();
    await cluster.create(nad('ns/older', netConf('ns/older', 'older')));
    cluster.start();
    await cluster.settled();
    expect(await annotation('NetworkAttachmentDefinition', 'ns/rival', 'network-id')).toBe(id);
  });
});

describe('a layer-3 NAD that was written by hand', () => {
  const layer3 = (fields: Readonly<Record<string, unknown>>) =>
    nad('ns/l3', netConf('ns/l3', 'by-hand', { topology: 'layer3', role: 'secondary', ...fields }));

  it.each(['before', 'after'])(
    'hears of each node that it has no subnet for, %s it came, and of none twice',
    async (when) => {
      const nodes = [node('n1'), node('n2'), node('n3')];
      cluster.start();
      await cluster.create(namespace('ns'), ...(when === 'before' ? nodes : []));
      await cluster.createAndSettle(layer3({ subnets: '10.9.0.0/24/25' }));
      if (when === 'after') await cluster.create(...nodes);
      await cluster.settled();
      expect(eventsAbout('l3')).toEqual([
        'NetworkAllocationFailed: Error occurred for node n3: error allocating network for node n3: no subnet left in 10.9.0.0/24/25',
      ]);
      await cluster.deleteAndSettle('Node', 'n1');
      expect(await annotation('Node', 'n3', 'node-subnets')).toContain('"by-hand":["10.9.0.0/25"]');
      expect(eventsAbout('l3')).toHaveLength(1);
    },
  );

  it.each(['excludeSubnets', 'reservedSubnets', 'infrastructureSubnets'])(
    'with %s is refused: its nodes would get them all the same',
    async (field) => {
      cluster.start();
      // The cluster's own subnet, which nobody would get of a layer-2 network.
      await cluster.createAndSettle(
        namespace('ns'),
        node('n1'),
        layer3({ subnets: '10.128.0.0/9/24', [field]: '10.128.0.0/14' }),
      );
      expect(eventsAbout('l3')).toEqual([
        `InvalidNetwork: no id for network by-hand: ${field} of topology layer3 is not supported yet`,
      ]);
      expect(await annotation('Node', 'n1', 'node-subnets')).toBe('{"default":["10.128.0.0/23"]}');
    },
  );
});

it('a node that the default network has no subnet for hears so, until it has one', async () => {
  await reopen({ config: parseClusterConfig({ clusterSubnets: '10.128.0.0/22/23' }) });
  cluster.start();
  await cluster.createAndSettle(node('n1'), node('n2'), node('n3'));
  expect(eventsAbout('n3')).toEqual(['NodeAllocationFailed: network default: no subnet left in 10.128.0.0/22/23']);
  await cluster.deleteAndSettle('Node', 'n1');
  expect(await annotation('Node', 'n3', 'node-subnets')).toBe('{"default":["10.128.0.0/23"]}');
  expect([...eventsAbout('n2'), ...eventsAbout('n3')]).toHaveLength(1);
});

describe('hostile input', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const networks = (text: string) => ({ annotations: { 'k8s.ovn.org/pod-networks': text } });
  const hostile = [
    nad('bad/deep', JSON.stringify(netConf('bad/deep', 'x', { role: 'DEEP' })).replace('"DEEP"', deep)),
    nad('bad/overlap', netConf('bad/overlap', 'y', { role: 'secondary', subnets: '10.128.0.0/16' })),
    node('n-bad', { 'k8s.ovn.org/node-subnets': deep, 'k8s.ovn.org/node-id': '-7' }),
    pod('good/deep', networks(`{"other/net":${deep}}`)),
    pod('good/proto', networks('{"__proto__":{"mac_address":"x"},"constructor":1}')),
    pod('good/zero', { annotations: { 'v1.multus-cni.io/default-network': ZERO_MAC } }),
  ];

  it.each(['arrives', 'is there at the start'])('%s is reported at its object and stops nothing else', async (when) => {
    if (when === 'arrives') cluster.start();
    await cluster.create(tenant('bad'), tenant('good'), ...hostile);
    if (when !== 'arrives') cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(node('n1'), layer2Udn('good/net', ['10.20.0.0/16']), pod('good/p'));
    expect(await addressOf('good/p', 'good/net')).toMatch(/^10\.20\.0\.[34]\/16$/);
    expect(await addressOf('good/proto', 'good/net')).toMatch(/^10\.20\.0\.[34]\/16$/);
    expect(await annotation('Node', 'n-bad', 'node-subnets')).toMatch(/^\{"default":\["10\.128\./);
    expect(eventsAbout('deep').join()).toContain('nested more than 64 levels deep');
    expect(eventsAbout('overlap').join()).toContain('overlaps cluster subnet "10.128.0.0/14"');
    expect(eventsAbout('zero').join()).toContain('[0].mac: "00:00:00:00:00:00" is not the MAC address of an interface');
  });
});

describe('a pod', () => {
  it('on a secondary network gets what it asks for, once per attachment', async () => {
    cluster.start();
    const selection = JSON.stringify([
      { name: 'net', ips: ['100.200.7.7'], mac: '02:00:00:00:00:07' },
      { name: 'net', 'default-route': ['100.200.0.9'] },
    ]);
    await cluster.createAndSettle(
      namespace('ns'),
      nad('ns/net', netConf('ns/net', 'red', { role: 'secondary' })),
      pod('ns/p', { annotations: { 'k8s.v1.cni.cncf.io/networks': selection } }),
    );
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
    const desired = '[{"name":"default","namespace":"ovn-kubernetes","ips":["10.20.5.5"],"mac":"02:00:00:00:00:05"}]';
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/p', { annotations: { 'v1.multus-cni.io/default-network': desired } }),
    );
    expect(await entryOf('ns/p', 'ns/net')).toMatchObject({
      ip_address: '10.20.5.5/16',
      mac_address: '02:00:00:00:00:05',
    });
  });

  it('hears why it gets nothing', async () => {
    cluster.start();
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'net' };
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/a', { annotations }),
      pod('ns/b', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'a/b/c/d' } }),
      pod('ns/c', { annotations: { 'v1.multus-cni.io/default-network': 'x/y' } }),
    );
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
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/29']));
    for (const name of ['a', 'b', 'c', 'd']) {
      await cluster.createAndSettle(pod(`ns/${name}`));
    }
    await cluster.createAndSettle(pod('ns/e'));
    expect(await addressOf('ns/d', 'ns/net')).toBe('10.20.0.6/29');
    expect(eventsAbout('e')).toEqual([
      'ErrorAllocatingPod: network ns_net: subnet 10.20.0.0/29 has no free address left',
    ]);
    await cluster.patchAndSettle('Pod', 'ns/b', { status: { phase: 'Failed' } }, 'status');
    expect(await addressOf('ns/e', 'ns/net')).toBe('10.20.0.4/29');
    await cluster.delete('Pod', 'ns/b');
    await cluster.createAndSettle(pod('ns/f'));
    expect(await addressOf('ns/f', 'ns/net')).toBeUndefined();
  });

  it('gives its address back when another pod takes its name', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.delete('Pod', 'ns/p');
    await cluster.createAndSettle(pod('ns/p'));
    expect(await entryOf('ns/p', 'ns/net')).toMatchObject({ ip_address: '10.20.0.3/16', tunnel_id: 10 });
    expect(cluster.manager.state?.pods.sizeOf('ns_net')).toBe(1);
  });

  it('is left alone on the host network, before it has a node, and on layer 3', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('l2'),
      tenant('l3'),
      layer2Udn('l2/net', ['10.20.0.0/16']),
      layer3Udn('l3/net', ['10.20.0.0/16']),
      pod('l2/host', {}, { hostNetwork: true }),
      pod('l2/pending', {}, { nodeName: undefined }),
      pod('l3/p'),
    );
    for (const key of ['l2/host', 'l2/pending', 'l3/p']) {
      expect(await annotation('Pod', key, 'pod-networks')).toBeUndefined();
    }
  });

  it.each([
    ['one of two addresses', ['10.61.0.9/16'], '10.61.0.3/16'],
    ['an address that cannot be read', ['10.61.0.9/16', 'nonsense'], '10.61.0.3/16'],
    ['all of them', ['10.61.0.9/16', 'fd00:61::9/64'], '10.61.0.9/16'],
  ])('whose entry was wrong, with %s, gets another one when it is taken away', async (_, ips, address) => {
    cluster.start();
    await cluster.create(tenant('ns'), layer2Udn('ns/net', ['10.61.0.0/16', 'fd00:61::/64']));
    const entry = { ip_addresses: ips, mac_address: '0a:58:0a:3d:00:09', tunnel_id: 99_999 };
    const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ 'ns/net': entry }) };
    await cluster.createAndSettle(pod('ns/a', { annotations }));
    expect(await entryOf('ns/a', 'ns/net')).toEqual(entry);
    // As the agent of its node does with what nobody can read.
    await cluster.patchAndSettle('Pod', 'ns/a', { metadata: { annotations: { 'k8s.ovn.org/pod-networks': null } } });
    const { ip_addresses: now, tunnel_id: key } = await entryOf('ns/a', 'ns/net');
    expect([now[0], now.length, key]).toEqual([address, 2, 10]);
  });

  it('keeps the keys that others write to its annotation at the same time', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
    await cluster.create(pod('ns/p'));
    await cluster.patchAndSettle('Pod', 'ns/p', {
      metadata: { annotations: { 'k8s.ovn.org/pod-networks': '{"default":{"mac_address":"0a:58:0a:80:00:03"}}' } },
    });
    expect(Object.keys(JSON.parse((await annotation('Pod', 'ns/p', 'pod-networks')) ?? '{}')).sort()).toEqual([
      'default',
      'ns/net',
    ]);
  });
});
