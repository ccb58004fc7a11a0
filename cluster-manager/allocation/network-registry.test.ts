import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { nad, netConf } from '../testing/objects.ts';
import { NetworkRegistry } from './network-registry.ts';

const registry = () => new NetworkRegistry(parseClusterConfig());

const facts = (
  key: string,
  network: string,
  fields: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
) => nadFacts(nad(key, netConf(key, network, fields), metadata));

const annotated = (network: string, id: string, tunnelKeys?: string) => ({
  annotations: {
    'k8s.ovn.org/network-name': network,
    'k8s.ovn.org/network-id': id,
    ...(tunnelKeys === undefined ? {} : { 'k8s.ovn.org/tunnel-keys': tunnelKeys }),
  },
});

describe('network registry', () => {
  it('gives ids from 1, and tunnel keys to primary layer-2 networks only', () => {
    const networks = registry();
    networks.upsert(facts('a/n', 'a_n'));
    networks.upsert(facts('b/n', 'b_n', { topology: 'layer3', subnets: '10.1.0.0/16' }));
    networks.upsert(facts('c/n', 'c_n', { role: 'secondary' }));
    networks.upsert(facts('d/n', 'd_n'));
    expect([...networks.networks()].map(({ name, keys }) => [name, keys.id, keys.tunnelKeys])).toEqual([
      ['a_n', 1, [16711684, 16715779]],
      ['b_n', 2, []],
      ['c_n', 3, []],
      ['d_n', 4, [16711687, 16715782]],
    ]);
  });

  it('refuses a network whose rows would have the names of another, until that one is gone', () => {
    const networks = registry();
    networks.upsert(facts('a/n', 'a_x-y'));
    const { changes, problems } = networks.upsert(facts('b/n', 'a_x.y'));
    expect(changes).toEqual([]);
    expect(problems).toEqual([
      'no id for network a_x.y: its OVN rows would have the same names as those of network a_x-y',
    ]);
    expect(networks.remove('a/n').map(({ after }) => after?.name)).toEqual([undefined, 'a_x.y']);
    expect(networks.get('a_x.y')?.keys.id).toBe(2);
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('refuses a NAD whose subnets the cluster uses, unless the network has its id already', () => {
    const networks = registry();
    const overlapping = (metadata: Record<string, unknown> = {}) =>
      facts('a/n', 'a_n', { subnets: '10.129.0.0/16' }, metadata);
    expect(networks.upsert(overlapping())).toEqual({
      changes: [],
      problems: ['no id for network a_n: user defined subnet "10.129.0.0/16" overlaps cluster subnet "10.128.0.0/14"'],
    });
    expect(networks.get('a_n')).toBeUndefined();
    const after = registry();
    after.recover(overlapping(annotated('a_n', '7')));
    expect(after.upsert(overlapping(annotated('a_n', '7'))).problems).toEqual([
      'network a_n: user defined subnet "10.129.0.0/16" overlaps cluster subnet "10.128.0.0/14"',
    ]);
    expect(after.get('a_n')?.keys.id).toBe(7);
  });

  it('keeps a network as it was when an edit asks for what the cluster uses', () => {
    const networks = registry();
    networks.upsert(facts('a/n', 'a_n'));
    const edited = networks.upsert(facts('a/n', 'a_n', { subnets: '10.129.0.0/16' }));
    expect(edited.changes).toEqual([]);
    expect(edited.problems).toEqual([expect.stringMatching(/^network a_n: user defined subnet .* overlaps/)]);
    expect(networks.get('a_n')?.network.subnets).toEqual([{ cidr: '100.200.0.0/16' }]);
  });

  it.each([
    [{ transport: 'no-overlay' }, 'transport no-overlay is not supported yet'],
    [{ uplink: 'second' }, 'uplink is not supported yet'],
  ])('does not take a network for half of what it is: %j', (fields, reason) => {
    const networks = registry();
    expect(networks.upsert(facts('a/n', 'a_n', fields)).problems).toEqual([`no id for network a_n: ${reason}`]);
  });

  it('names the annotation that cannot be read', () => {
    const message =
      'annotation k8s.ovn.org/network-id of NetworkAttachmentDefinition a/n: "-1" is not a network id (0–4095)';
    const networks = registry();
    const broken = facts('a/n', 'a_n', {}, annotated('a_n', '-1'));
    expect(networks.recover(broken)).toEqual([message]);
    expect(networks.upsert(broken).problems).toEqual([message]);
  });

  it('matches what a running cluster had: id 54, keys 16711737 and the recovered one', () => {
    const networks = registry();
    const one = facts(
      'l2/x',
      'cluster_udn_l2-network-53',
      {},
      annotated('cluster_udn_l2-network-53', '54', '[16711737,16715832]'),
    );
    expect(networks.recover(one)).toEqual([]);
    networks.upsert(one);
    expect(networks.get('cluster_udn_l2-network-53')?.keys).toEqual({ id: 54, tunnelKeys: [16711737, 16715832] });
  });

  it('knows the NADs of all namespaces as one network', () => {
    const networks = registry();
    expect(networks.upsert(facts('a/n', 'cluster_udn_n'), true).changes).toHaveLength(1);
    expect(networks.upsert(facts('b/n', 'cluster_udn_n'), true).changes).toEqual([]);
    expect(networks.remove('a/n')).toEqual([]);
    expect(networks.get('cluster_udn_n')?.keys.id).toBe(1);
    expect(networks.remove('b/n')).toMatchObject([{ after: undefined }]);
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('keeps the older of two that hold one id', () => {
    const networks = registry();
    const old = facts('a/n', 'a_n', {}, annotated('a_n', '7', '[16711690,16715790]'));
    const young = facts('b/n', 'b_n', {}, annotated('b_n', '7', '[16711690,16715790]'));
    expect(networks.recover(old)).toEqual([]);
    expect(networks.recover(young)).toEqual([
      'network id 7 already belongs to network a_n',
      'tunnel key 16715790 already belongs to network a_n',
    ]);
    networks.upsert(old);
    networks.upsert(young);
    expect(networks.get('a_n')?.keys).toEqual({ id: 7, tunnelKeys: [16711690, 16715790] });
    expect(networks.get('b_n')?.keys).toEqual({ id: 1, tunnelKeys: [16711684, 16715779] });
  });

  it('does not take the ids of another network from an edited NAD', () => {
    const networks = registry();
    expect(networks.recover(facts('a/n', 'a_new', {}, annotated('a_old', '7')))).toEqual([]);
    networks.upsert(facts('a/n', 'a_new', {}, annotated('a_old', '7')));
    expect(networks.get('a_new')?.keys.id).toBe(1);
  });

  it('keeps the id of a network whose NAD can not be read, and the network of one that was good before', () => {
    const networks = registry();
    const broken = nadFacts(nad('a/n', '{', annotated('a_n', '1')));
    networks.recover(broken);
    expect(networks.upsert(broken).problems[0]).toContain('error parsing Network Attachment Definition a/n');
    networks.upsert(facts('b/n', 'b_n'));
    expect(networks.get('b_n')?.keys.id).toBe(2);
    networks.upsert(facts('a/n', 'a_n'));
    expect(networks.get('a_n')?.keys.id).toBe(1);
    networks.upsert(broken);
    expect(networks.get('a_n')?.keys.id).toBe(1);
    networks.remove('a/n');
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('releases the id of an unreadable NAD that goes away', () => {
    const networks = registry();
    networks.recover(nadFacts(nad('a/n', '{', annotated('a_n', '1'))));
    networks.remove('a/n');
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('reports garbage and contradictions by their object', () => {
    const networks = registry();
    const garbage = facts('a/n', 'a_n', {}, { annotations: { 'k8s.ovn.org/network-id': 'x' } });
    expect(networks.recover(garbage)).toEqual([
      'annotation k8s.ovn.org/network-id of NetworkAttachmentDefinition a/n: "x" is not a network id (0–4095)',
    ]);
    networks.upsert(facts('b/n', 'shared'));
    expect(networks.upsert(facts('c/n', 'shared', { subnets: '10.9.0.0/16' })).problems).toEqual([
      'CNI config does not match that of network shared, which b/n defines',
    ]);
    expect(networks.get('shared')?.network.subnets[0]?.cidr).toBe('100.200.0.0/16');
  });

  it('follows a NAD that changes its network', () => {
    const networks = registry();
    networks.upsert(facts('a/n', 'one'));
    const { changes } = networks.upsert(facts('a/n', 'two'));
    expect(changes.map(({ before, after }) => [before?.name, after?.name])).toEqual([
      ['one', undefined],
      [undefined, 'two'],
    ]);
    expect(networks.networkOfNad('a/n')?.keys.id).toBe(2);
  });

  it('does not keep an id for a NAD of another plugin, whatever its annotations say', () => {
    const networks = registry();
    const bridge = nadFacts(nad('a/bridge', { cniVersion: '1.0.0', type: 'bridge' }, annotated('x', '7')));
    expect([bridge, facts('b/n', 'b_n', {}, annotated('b_n', '7'))].flatMap((one) => networks.recover(one))).toEqual(
      [],
    );
    networks.upsert(facts('b/n', 'b_n', {}, annotated('b_n', '7')));
    expect(networks.get('b_n')?.keys.id).toBe(7);
  });

  it('says when all ids are taken', () => {
    const networks = registry();
    for (let n = 1; n <= 4095; n += 1) networks.upsert(facts(`ns/n${n}`, `ns_n${n}`, { role: 'secondary' }));
    expect(networks.upsert(facts('ns/more', 'ns_more')).problems).toEqual([
      'no id for network ns_more: all ids from 1 to 4095 are in use',
    ]);
  });
});
