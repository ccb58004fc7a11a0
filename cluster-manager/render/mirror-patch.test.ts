import { describe, expect, it } from 'vitest';
import { applyMergePatch } from '../../kube/patch/merge-patch.ts';
import type { ManagedFieldsEntry } from '../../kube/types.ts';
import { type SliceFacts, sliceFacts } from '../facts/slice-facts.ts';
import { isMirrored, mirrorPatch } from './mirror-patch.ts';
import { type MirroredSlice, renderMirroredSlice } from './mirrored-slice.ts';

const OWNER = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service', controller: true };
const metadata = { name: 'web-1', namespace: 'red', uid: 'u', resourceVersion: '7', ownerReferences: [OWNER] };
const conditions = { ready: true, serving: null };
const desired = desiredOf({});
const endpoint = { nodeName: 'n1', conditions: { serving: null, ready: true }, addresses: ['10.1.0.1'] };

/** Of a source with more labels. */
function desiredOf(labels: Readonly<Record<string, string>>): MirroredSlice {
  const source = sliceFacts({
    metadata: {
      ...metadata,
      labels: {
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': 'web',
        ...labels,
      },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions, nodeName: 'n1' }],
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  });
  const mirror = source && renderMirroredSlice(source, 'red_net', () => '10.1.0.1');
  if (mirror === undefined) throw new Error('no mirror');
  return mirror;
}

const factsOf = (object: unknown): SliceFacts => {
  const facts = sliceFacts(object);
  if (facts === undefined) throw new Error('no slice');
  return facts;
};

const written = (change: object): SliceFacts =>
  factsOf({ ...desired, metadata: { ...metadata, ...desired.metadata }, ...change });

describe('isMirrored', () => {
  it('does not look at the order in which things are said', () =>
    expect(isMirrored(written({ endpoints: [endpoint] }), desired)).toBe(true));

  it.each([
    ['an address', { endpoints: [{ ...endpoint, addresses: ['10.1.0.2'] }] }],
    ['a condition that is not said', { endpoints: [{ ...endpoint, conditions: { ready: true } }] }],
    ['an endpoint more', { endpoints: [endpoint, endpoint] }],
    ['a field more', { endpoints: [{ ...endpoint, hostname: 'a' }] }],
    ['a port', { ports: [] }],
    ['the family', { addressType: 'IPv6' }],
    ['no owner', { metadata: { ...metadata, ...desired.metadata, ownerReferences: [] } }],
  ])('sees that it differs by %s', (_, change) => expect(isMirrored(written(change), desired)).toBe(false));
});

describe('what is in its metadata besides', () => {
  const FOREIGN = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'foreign' };
  const FORMER = { ...OWNER, uid: 'former' };
  const fields = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, {}]));
  const entry = (manager: string, labels: readonly string[], annotations: readonly string[], uids: readonly string[]) =>
    ({
      manager,
      operation: 'Update',
      fieldsV1: {
        'f:metadata': {
          'f:labels': fields(labels.map((key) => `f:${key}`)),
          'f:annotations': fields(annotations.map((key) => `f:${key}`)),
          'f:ownerReferences': fields(uids.map((uid) => `k:${JSON.stringify({ uid })}`)),
        },
      },
    }) satisfies ManagedFieldsEntry;
  const { labels, annotations } = desired.metadata;
  const surplus = (managedFields: readonly ManagedFieldsEntry[]) => ({
    ...desired,
    metadata: {
      ...metadata,
      ...desired.metadata,
      labels: { ...labels, more: '1' },
      annotations: { ...annotations, more: '1' },
      ownerReferences: [OWNER, FORMER, FOREIGN],
      managedFields,
    },
  });
  const MORE = [['more'], ['more'], ['former']] as const;
  const ours = surplus([entry('udn-cluster-manager', ...MORE), entry('other', [], [], ['foreign'])]);
  const theirs = surplus([entry('other', ['more'], ['more'], ['former', 'foreign'])]);
  const both = surplus([
    entry('udn-cluster-manager', ...MORE),
    entry('other', ['more'], ['more'], ['former', 'foreign']),
  ]);

  it('goes when it was ours', () => {
    expect(isMirrored(factsOf(ours), desired)).toBe(false);
    const { metadata: after } = applyMergePatch(ours, mirrorPatch(factsOf(ours), desired)) as typeof ours;
    expect([after.labels, after.annotations]).toEqual([labels, annotations]);
    expect(after.ownerReferences).toEqual([OWNER, FOREIGN]);
    expect(isMirrored(factsOf({ ...ours, metadata: after }), desired)).toBe(true);
  });

  it.each([
    ['others', theirs],
    ['others, too', both],
  ])('stays when it is of %s', (_, object) => {
    expect(isMirrored(factsOf(object), desired)).toBe(true);
    expect(applyMergePatch(object, mirrorPatch(factsOf(object), desired))).toEqual(object);
  });
});

it('is changed in all that is ours, also where a slice that may be outdated shows it as it should be', () => {
  const { endpoints, ports } = desired;
  expect(mirrorPatch(written({}), desired)).toEqual({
    metadata: {
      labels: desired.metadata.labels,
      annotations: desired.metadata.annotations,
      ownerReferences: [OWNER],
    },
    endpoints,
    ports,
  });
});
