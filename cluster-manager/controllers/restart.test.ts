import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { parseIp } from '../../net/ip.ts';
import {
  cudn,
  ipamClaim,
  layer2Udn,
  layer3Udn,
  nad,
  namespace,
  netConf,
  node,
  pod,
  tenant,
} from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();

const { annotation, addressOf, eventsAbout } = observe(() => cluster);
const PRIMARY = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16'] } };
const TEAM_A = { matchLabels: { team: 'a' } };

describe('a restart', () => {
  const everything = async () => {
    const kinds = ['Node', 'Pod', 'NetworkAttachmentDefinition', 'UserDefinedNetwork', 'ClusterUserDefinedNetwork'];
    return (await Promise.all(kinds.map((kind) => cluster.list(kind)))).flat();
  };

  it('changes nothing', async () => {
    cluster.start();
    await cluster.createAndSettle(
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
    const before = await everything();
    await cluster.stop();
    const start = cluster.observations.length;
    cluster.start();
    await cluster.settled();
    expect(await everything()).toEqual(before);
    const writes = cluster.observations.slice(start).filter(({ source }) => source === 'writer');
    expect(writes).toEqual([]);
  });

  it('works on no pod that has all that it needs', async () => {
    const broken = { 'k8s.ovn.org/pod-networks': '{"ns/net":{}}' };
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      node('n1'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      layer2Udn('ns/second', ['10.21.0.0/16'], { role: 'Secondary' }),
      pod('ns/complete'),
      pod('ns/both', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'second' } }),
    );
    await cluster.stop();
    await cluster.create(
      namespace('plain'),
      pod('plain/p'),
      pod('ns/new'),
      pod('ns/broken', { annotations: broken }),
      pod('ns/refused', { annotations: { 'k8s.v1.cni.cncf.io/networks': '[{' } }),
    );
    await cluster.patch('Pod', 'ns/both', {
      metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': 'second,second' } },
    });
    const start = cluster.observations.length;
    cluster.start();
    await cluster.settled();
    const worked = cluster.observations
      .slice(start)
      .flatMap((one) => (one.source === 'queue' && one.controller === 'pod' ? [one.about.key] : []));
    expect([...new Set(worked)].sort()).toEqual(['ns/both', 'ns/broken', 'ns/new', 'ns/refused']);
    expect(await addressOf('ns/new', 'ns/net')).toBe('10.20.0.5/16');
    expect(eventsAbout('broken').map((text) => text.split(':')[0])).toEqual([
      'AllocationConflict',
      'ErrorAllocatingPod',
    ]);
    expect(eventsAbout('refused')[0]).toContain('ErrorAllocatingPod');
  });

  it('gives nothing that was given before to what came meanwhile', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('a'),
      tenant('b'),
      node('n1'),
      layer2Udn('a/net', ['10.20.0.0/16']),
      pod('a/1'),
    );
    await cluster.stop();
    await cluster.create(
      node('a-new'),
      pod('a/0', { creationTimestamp: undefined }),
      layer3Udn('b/net', ['10.21.0.0/16']),
    );
    cluster.start();
    await cluster.settled();
    expect(await addressOf('a/1', 'a/net')).toBe('10.20.0.3/16');
    expect(await addressOf('a/0', 'a/net')).toBe('10.20.0.4/16');
    expect(await annotation('Node', 'a-new', 'node-id')).toBe('3');
    expect(await annotation('NetworkAttachmentDefinition', 'b/net', 'network-id')).toBe('10');
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
      'AllocationConflict: node id 5 already belongs to node old',
      'AllocationConflict: network default: 10.128.4.0/23 already belongs to old',
    ]);
    expect(eventsAbout('second')).toEqual(['AllocationConflict: network id 9 already belongs to network net']);
    expect(eventsAbout('b')).toEqual([
      'AllocationConflict: network net: address 100.200.0.7 already belongs to ns/a (ns/net); delete the pod',
      'AllocationConflict: network net: MAC 0a:58:64:c8:00:07 already belongs to ns/a (ns/net); delete the pod',
      'AllocationConflict: network net: tunnel id 17 already belongs to ns/a (ns/net); delete the pod',
    ]);
  });

  it('keeps the subnets of a node beside one that cannot be read', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('a'), tenant('b'), node('gone'));
    await cluster.createAndSettle(
      node('n1'),
      layer3Udn('a/net', ['10.20.0.0/16']),
      layer3Udn('b/net', ['10.21.0.0/16']),
    );
    await cluster.deleteAndSettle('Node', 'gone');
    await cluster.stop();
    const before = JSON.parse((await annotation('Node', 'n1', 'node-subnets')) ?? '');
    expect(before).toMatchObject({ b_net: ['10.21.1.0/24'], default: ['10.128.2.0/23'] });
    const annotations = { 'k8s.ovn.org/node-subnets': JSON.stringify({ ...before, a_net: 'nonsense' }) };
    await cluster.patch('Node', 'n1', { metadata: { annotations } });
    cluster.start();
    await cluster.settled();
    const after = JSON.parse((await annotation('Node', 'n1', 'node-subnets')) ?? '');
    expect(after).toEqual({ ...before, a_net: ['10.20.0.0/24'] });
    expect(eventsAbout('n1')).toEqual([
      'AllocationConflict: annotation k8s.ovn.org/node-subnets of Node n1: a_net[0]: "nonsense" is not a CIDR',
    ]);
  });

  it('keeps the id of a network whose tunnel keys cannot be read', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('a'), tenant('b'), layer2Udn('a/net', ['10.20.0.0/16']));
    await cluster.createAndSettle(layer2Udn('b/net', ['10.21.0.0/16']));
    await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
    await cluster.stop();
    const annotations = { 'k8s.ovn.org/tunnel-keys': '[nonsense' };
    await cluster.patch('NetworkAttachmentDefinition', 'b/net', { metadata: { annotations } });
    cluster.start();
    await cluster.settled();
    expect(await annotation('NetworkAttachmentDefinition', 'b/net', 'network-id')).toBe('2');
    expect(await annotation('NetworkAttachmentDefinition', 'b/net', 'tunnel-keys')).toBe('[16711685,16715780]');
    expect(eventsAbout('net')[0]).toContain('annotation k8s.ovn.org/tunnel-keys of NetworkAttachmentDefinition b/net');
  });

  it.each([
    ['tunnel_id', 99_999],
    ['mac_address', 'nonsense'],
    ['routes', [{ dest: '0.0.0.0/0', nextHop: '10.20.0.1' }]],
    ['role', 'king'],
  ])('gives nobody the address of a pod whose %s cannot be read, and reports it to the pod', async (field, value) => {
    cluster.start();
    await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']), pod('a/old'));
    await cluster.stop();
    const { 'a/net': entry } = JSON.parse((await annotation('Pod', 'a/old', 'pod-networks')) ?? '');
    expect(entry).toMatchObject({ ip_address: '10.20.0.3/16' });
    const networks = JSON.stringify({ 'a/net': { ...entry, [field]: value } });
    await cluster.patch('Pod', 'a/old', { metadata: { annotations: { 'k8s.ovn.org/pod-networks': networks } } });
    await cluster.create(pod('a/new'));
    cluster.start();
    await cluster.settled();
    expect(await annotation('Pod', 'a/old', 'pod-networks')).toBe(networks);
    expect(await addressOf('a/new', 'a/net')).toBe('10.20.0.4/16');
    expect(eventsAbout('old')[0]).toContain(`a/net: ${field}`);
    // It is free when the pod is gone, as any other.
    await cluster.delete('Pod', 'a/old');
    await cluster.createAndSettle(pod('a/next'));
    expect(await addressOf('a/next', 'a/net')).toBe('10.20.0.3/16');
  });

  it('leaves what two hold with the older, whatever their names', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await reopen({ serverClock: { ...systemClock, wall: () => now } });
    const ids = { 'k8s.ovn.org/node-id': '5', 'k8s.ovn.org/node-subnets': '{"default":["10.128.4.0/23"]}' };
    const entry = { ip_addresses: ['10.20.0.7/16'], mac_address: '0a:58:0a:14:00:07', tunnel_id: 17, role: 'primary' };
    const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ 'ns/b': entry }) };
    const id = { annotations: { 'k8s.ovn.org/network-id': '9' } };
    const has = { status: { ips: ['10.20.0.8/16'] } };
    const conf = { allowPersistentIPs: true, subnets: '10.20.0.0/16' };
    await cluster.create(tenant('ns'));
    await cluster.create(node('b', ids), nad('ns/b', netConf('ns/b', 'net', conf), id), pod('ns/b', { annotations }));
    await cluster.create(ipamClaim('ns/d', 'net'));
    now += 1000;
    const second = netConf('ns/a', 'second', { role: 'secondary' });
    await cluster.create(
      node('a', ids),
      nad('ns/a', second, id),
      pod('ns/a', { annotations }),
      ipamClaim('ns/c', 'net'),
    );
    for (const claim of ['ns/c', 'ns/d']) await cluster.patch('IPAMClaim', claim, has, 'status');
    cluster.start();
    await cluster.settled();
    expect([await annotation('Node', 'b', 'node-id'), await annotation('Node', 'a', 'node-id')]).toEqual(['5', '2']);
    expect(await annotation('Node', 'b', 'node-subnets')).toBe('{"default":["10.128.4.0/23"]}');
    const idOf = (key: string) => annotation('NetworkAttachmentDefinition', key, 'network-id');
    expect([await idOf('ns/b'), await idOf('ns/a')]).toEqual(['9', '1']);
    const holderOf = (ip: string) => cluster.manager.state?.pods.holderOf('net', parseIp(ip));
    expect([holderOf('10.20.0.7'), holderOf('10.20.0.8')]).toEqual(['ns/b (ns/b)', 'IPAMClaim ns/d']);
    expect(eventsAbout('a').filter((text) => text.includes('delete the pod'))).toHaveLength(3);
    expect([...eventsAbout('b'), ...eventsAbout('d')]).toEqual([]);
  });

  it('finishes a deletion that began before', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/net');
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
