import { expect, it } from 'vitest';
import { ownNad, projectNad } from './nad-projection.ts';

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
