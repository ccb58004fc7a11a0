import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red: ['10.20.1.0/24'] } })
    .namespace('plain')
    .namespace('red', true)
    .network('red', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });

const attachmentsOf = (it: TestCluster, pod: string) => {
  it.render();
  const found = it.sinks.attachments.get(`attachments:${pod}`);
  return found?.waitingFor ?? found?.attachments.map((one) => [one.nadKey, one.role, one.interfaceName, one.givenBy]);
};

describe('a pod is attached to', () => {
  it('the default network alone where the namespace has no label', () => {
    const it = cluster().pod('plain/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'plain/a')).toEqual([['default', 'primary', 'eth0', 'node']]);
  });

  it('the primary network of its namespace, and locked to the default one', () => {
    const it = cluster().pod('red/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'red/a')).toEqual([
      ['default', 'infrastructure-locked', 'eth0', 'node'],
      ['red/net', 'primary', 'ovn-udn1', 'node'],
    ]);
  });

  it('a layer-2 network whose addresses come from the cluster manager', () => {
    const it = cluster()
      .namespace('green', true)
      .network('green', { id: 2, topology: 'layer2', subnets: ['10.30.0.0/16'], namespace: 'green', nad: 'net' })
      .pod('green/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'green/a')?.[1]).toEqual(['green/net', 'primary', 'ovn-udn1', 'cluster']);
  });

  it('nothing on another node, and nothing when it is finished', () => {
    const it = cluster()
      .pod('plain/a', { node: 'node2', networks: {} })
      .pod('plain/b', { node: 'node1', networks: {}, finished: true });
    expect(attachmentsOf(it, 'plain/a')).toBeUndefined();
    expect(attachmentsOf(it, 'plain/b')).toBeUndefined();
  });
});

it('keys of a NAD of ours that have no effect are a diagnostic, those of another plugin are its own', () => {
  const ignored = [
    { nad: 'red/net', message: 'bandwidth of red/net has no effect' },
    { nad: 'red/macvlan', message: 'bandwidth of red/macvlan has no effect' },
    { message: 'requested-primary-udn has no effect' },
  ];
  const it = cluster().foreignNad('red/macvlan').pod('red/a', { node: 'node1', networks: {}, ignored });
  it.render();
  expect(it.sinks.attachments.get('attachments:red/a')?.ignored).toEqual([
    'bandwidth of red/net has no effect',
    'requested-primary-udn has no effect',
  ]);
});

describe('a pod waits', () => {
  it('for the primary network that the label of its namespace promises', () => {
    const it = cluster().namespace('blue', true).pod('blue/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'blue/a')).toMatch(/namespace blue has the label .* and no primary network yet/);
    it.network('blue', { id: 4, topology: 'layer2', subnets: ['10.40.0.0/16'], namespace: 'blue', nad: 'net' });
    expect(attachmentsOf(it, 'blue/a')).toHaveLength(2);
  });

  it('for its namespace, and for a subnet of its node', () => {
    const it = cluster()
      .pod('later/a', { node: 'node1', networks: {} })
      .namespace('wide', true)
      .network('wide', { id: 5, topology: 'layer3', subnets: ['10.50.0.0/16'], namespace: 'wide', nad: 'net' })
      .pod('wide/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'later/a')).toBe('namespace later is not known yet');
    expect(attachmentsOf(it, 'wide/a')).toBe('node node1 has no subnet of network wide yet');
  });
});
