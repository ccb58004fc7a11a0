import { expect, it } from 'vitest';
import { parseUserDefinedNetwork } from '../../api/user-defined-network.ts';
import type { KubeObject } from '../../kube/types.ts';
import { mixed, networkRequest, sliceRequest, tenants, withoutServerFields, writtenNetwork } from './objects.ts';
import { UID } from './request-chain.ts';

it.each(['Layer2', 'Layer3'] as const)('a %s network is one that the API takes', (topology) => {
  const { body = '' } = networkRequest(7, topology);
  const udn = parseUserDefinedNetwork(JSON.parse(body));
  expect([udn.metadata.namespace, udn.spec.topology]).toEqual(['tenant-7', topology]);
});

it('half of the tenants have networks of either topology', () => {
  expect(tenants(4).map(mixed)).toEqual(['Layer3', 'Layer2', 'Layer3', 'Layer2']);
});

it('what was written is the network, its finalizer, its NAD and its status, and belongs to the network that is recreated', () => {
  const metadata = { name: 'net', namespace: 'tenant-1', uid: 'u-1', resourceVersion: '9' };
  const udn: KubeObject = { metadata: { ...metadata, finalizers: ['f'] }, status: { networkID: 1 } };
  const nad: KubeObject = {
    metadata: {
      ...metadata,
      uid: 'u-2',
      annotations: { id: '1' },
      finalizers: ['f'],
      ownerReferences: [{ apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', name: 'net', uid: 'u-1' }],
      managedFields: [],
    },
    spec: { config: '{}' },
  };
  const chain = writtenNetwork(1, 'Layer3', udn, nad);
  expect(chain.map(({ method, path }) => `${method} ${path.replace(/^.*tenant-1/, '')}`)).toEqual([
    'POST /userdefinednetworks',
    'PATCH /userdefinednetworks/net',
    'POST /network-attachment-definitions',
    'PATCH /userdefinednetworks/net/status',
  ]);
  const written = JSON.parse(chain[2]?.body ?? '');
  expect(written.metadata.ownerReferences[0].uid).toBe(UID);
  expect(written.metadata).toMatchObject({ annotations: { id: '1' }, finalizers: ['f'] });
  expect(written.metadata).not.toHaveProperty('uid');
  expect(chain[3]?.body).toBe('{"status":{"networkID":1}}');
});

it('a slice is recreated without what the server has written into it', () => {
  const metadata = { name: 'web-1', namespace: 'tenant-1', labels: { app: 'web' } };
  const server = { uid: 'u-1', resourceVersion: '9', generation: 1, creationTimestamp: 'now', managedFields: [] };
  const slice = withoutServerFields({ metadata: { ...metadata, ...server }, addressType: 'IPv4' });
  expect(slice).toEqual({ metadata, addressType: 'IPv4' });
  expect(JSON.parse(sliceRequest(slice).body ?? '')).toMatchObject({ kind: 'EndpointSlice', metadata });
});
