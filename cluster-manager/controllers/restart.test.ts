import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { cudn, layer2Udn, layer3Udn, nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await createTestCluster();
});
afterEach(() => cluster.close());

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

  it('works on no pod that has all that it needs', async () => {
    const broken = { 'k8s.ovn.org/pod-networks': '{"ns/net":{}}' };
    cluster.start();
    await cluster.create(
      tenant('ns'),
      node('n1'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      layer2Udn('ns/second', ['10.21.0.0/16'], { role: 'Secondary' }),
      pod('ns/complete'),
      pod('ns/both', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'second' } }),
    );
    await cluster.settled();
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
    await cluster.create(tenant('a'), tenant('b'), node('n1'), layer2Udn('a/net', ['10.20.0.0/16']), pod('a/1'));
    await cluster.settled();
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
