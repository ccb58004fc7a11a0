import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { FactStore } from '../model/fact-store.ts';
import { ownNad, projectNad } from './nad-projection.ts';
import { NetworkIndex } from './network-index.ts';

const OWNER = { apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', name: 'net', uid: 'u' };

it.each([
  ['its owner', 'other', { ownerReferences: [OWNER] }, false],
  ['the label alone', 'other', { labels: { 'k8s.ovn.org/user-defined-network': '' } }, false],
  ['the name of a UserDefinedNetwork alone', 'default_net', {}, false],
  ['the name of a ClusterUserDefinedNetwork alone', 'cluster_udn_net', {}, false],
  ['nothing', 'other', {}, true],
  ['another label and owner', 'other', { labels: { a: 'b' }, ownerReferences: [{ ...OWNER, kind: 'Pod' }] }, true],
])('a NAD that has %s of a rendered one', (_what, name, metadata, isHandmade) => {
  const conf = { cniVersion: '1.1.0', type: 'ovn-k8s-cni-overlay', name, netAttachDefName: 'default/net' };
  const config = JSON.stringify({ ...conf, topology: 'layer2', role: 'secondary', subnets: '10.20.0.0/16' });
  const object = { metadata: { namespace: 'default', name: 'net', uid: 'n', resourceVersion: '1', ...metadata } };
  expect(ownNad(projectNad({ ...object, spec: { config } }))).toMatchObject({ isHandmade });
});

describe('a NAD that was written by hand and edited', () => {
  const conf = {
    ...{ cniVersion: '1.1.0', type: 'ovn-k8s-cni-overlay', name: 'wire', netAttachDefName: 'a/net' },
    ...{ topology: 'layer2', role: 'secondary', subnets: '10.20.0.0/16' },
  };
  const project = (config: unknown, metadata: Record<string, unknown> = {}, adopted = JSON.stringify(conf)) => {
    const annotations = {
      'k8s.ovn.org/network-name': 'wire',
      'k8s.ovn.org/network-id': '4',
      'k8s.ovn.org/network-config': adopted,
    };
    const ids = { namespace: 'a', name: 'net', uid: 'n', resourceVersion: '1', annotations };
    return projectNad({
      metadata: { ...ids, ...metadata },
      spec: { config: typeof config === 'string' ? config : JSON.stringify(config) },
    });
  };
  const IGNORED =
    'pods are on network wire, so the edit of KEYS has no effect: they keep what they have, and new ones get the same; it is followed when the last of them is gone, or make another network';

  it.each([
    ['subnets', { ...conf, subnets: '10.77.0.0/16' }],
    ['name', { ...conf, name: 'other' }],
    ['type', { ...conf, type: 'bridge' }],
    ['type', { name: 'x', plugins: [{ type: 'bridge' }] }],
  ])('keeps what the cluster manager has adopted, and says so: %s', (keys, config) => {
    const nad = ownNad(project(config));
    expect(nad).toMatchObject({
      conf: { name: 'wire', subnets: [{ cidr: '10.20.0.0/16' }] },
      keys: { id: 4 },
      beside: [],
    });
    expect(nad?.ignored).toBe(IGNORED.replace('KEYS', keys));
  });

  it.each([{ ownerReferences: [OWNER] }, { labels: { 'k8s.ovn.org/user-defined-network': '' } }])(
    'keeps it where its author writes %j, too',
    (metadata) => {
      const nad = ownNad(project({ ...conf, subnets: '10.77.0.0/16' }, metadata));
      expect(nad).toMatchObject({ conf: { subnets: [{ cidr: '10.20.0.0/16' }] }, keys: { id: 4 }, isHandmade: false });
      expect(nad?.ignored).toBe(IGNORED.replace('KEYS', 'subnets'));
    },
  );

  it('keeps it where it cannot be read', () => {
    const nad = ownNad(project('{'));
    expect(nad).toMatchObject({ conf: { name: 'wire' }, keys: { id: 4 } });
    expect(nad?.ignored).toContain('error parsing Network Attachment Definition a/net');
  });

  it.each([
    ['it says the same', {}, JSON.stringify({ ...conf, cniVersion: '1.0.0' })],
    ['the annotation is nonsense', {}, '{'],
    ['it is about another network', {}, JSON.stringify({ ...conf, name: 'other', subnets: '10.1.0.0/16' })],
    ['it is of another plugin', {}, JSON.stringify({ ...conf, type: 'bridge' })],
  ])('is what it says where %s', (_what, metadata, adopted) => {
    const nad = ownNad(project(conf, metadata, adopted));
    expect(nad).toMatchObject({ conf: { name: 'wire', subnets: [{ cidr: '10.20.0.0/16' }] } });
    expect(nad?.ignored).toBeUndefined();
  });

  it('is a problem until it is followed, or the NAD goes', () => {
    const facts = new FactStore();
    const index = new NetworkIndex(facts, parseClusterConfig());
    const [before, edited] = [project(conf), project({ ...conf, subnets: '10.77.0.0/16' })].map(ownNad);
    const said = { object: 'NetworkAttachmentDefinition/a/net', message: IGNORED.replace('KEYS', 'subnets') };
    index.change(undefined, before);
    const network = facts.get('network', 'wire');
    index.change(before, edited);
    expect(index.problems).toEqual([{ ...said, cause: 'network-invalid' }]);
    expect([facts.get('network', 'wire'), facts.get('nad', 'a/net')]).toEqual([network, 'wire']);
    index.change(edited, before);
    expect(index.problems).toEqual([]);
    index.change(before, edited);
    index.change(edited, undefined);
    expect(index.problems).toEqual([]);
  });
});
