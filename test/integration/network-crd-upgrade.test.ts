/**
 * An upgrade of the CRDs over networks that the new rules refuse: they stay, and conditions can report what is wrong with
 * them. An API server that checked the whole object on every write of its status would take no condition for them.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../api/crd/crds.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient, ObjectInput, ResourceType } from '../../kube/types.ts';
import { eventually, refusal } from '../conformance/kube/harness.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';

/** A group of its own: a given server may have the real one, with networks in it. */
const GROUP = 'upgrade.example.org';
const NAME = `userdefinednetworks.${GROUP}`;
const NETWORKS: ResourceType = {
  group: GROUP,
  version: 'v1',
  plural: 'userdefinednetworks',
  kind: 'UserDefinedNetwork',
  namespaced: true,
};

let server: RealServer;
let client: KubeClient;
let namespace: string;
beforeAll(async () => {
  server = await startRealServer('test-crd-upgrade');
  client = await server.connect();
  namespace = (await client.create(NAMESPACES, { metadata: { generateName: 'crd-upgrade-' } })).metadata.name;
}, 120_000);
afterAll(async () => {
  await client?.delete(NAMESPACES, { name: namespace }).catch(() => {});
  await client?.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: NAME }).catch(() => {});
  client?.close();
  await server?.close();
});

const current = (): ObjectInput => {
  const text = crdFiles()['daemonset/crds/k8s.ovn.org_userdefinednetworks.yaml'];
  const crd = parse(text ?? '');
  return { ...crd, metadata: { name: NAME }, spec: { ...crd.spec, group: GROUP } };
};

/** Before there were rules, and before its status had these fields. */
const older = (): ObjectInput => {
  const crd = JSON.parse(
    JSON.stringify(current(), (key, value) => (key === 'x-kubernetes-validations' ? undefined : value)),
  );
  const { properties } = crd.spec.versions[0].schema.openAPIV3Schema;
  const { conditions } = properties.status.properties;
  properties.status.properties = { conditions };
  return crd;
};

const network = (name: string): ObjectInput => ({
  metadata: { namespace, name },
  spec: {
    topology: 'Layer3',
    layer3: { role: 'Primary', mtu: 1000, subnets: [{ cidr: 'fd00::/48', hostSubnet: 80 }, { cidr: 'fd01::/48' }] },
  },
});

it('keeps what the new rules refuse, and takes its status', async () => {
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, older());
  await eventually(() => client.create(NETWORKS, network('old')));
  const { metadata } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: NAME });
  const crd = current();
  await client.update(CUSTOM_RESOURCE_DEFINITIONS, {
    ...crd,
    metadata: { ...crd.metadata, resourceVersion: metadata.resourceVersion },
  });
  const error = await eventually(() => refusal(client.create(NETWORKS, network('new'), { dryRun: true })));
  expect(error.message).toContain('HostSubnet must be 64 for ipv6 CIDR');
  expect(error.message).toContain('MTU should be greater than or equal to 1280');
  const condition = {
    type: 'Ready',
    status: 'False',
    reason: 'SyncError',
    message: error.message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { metadata: { namespace, name: 'old' }, status: { conditions: [condition], networkID: 7 } };
  const written = await client.patch(
    NETWORKS,
    { namespace, name: 'old' },
    { type: 'apply', fieldManager: 'test', force: true, body },
    { subresource: 'status' },
  );
  expect(written['status']).toEqual(body.status);
  // Finalizers come and go, too.
  const finalizers = { type: 'merge', body: { metadata: { finalizers: ['example.org/held'] } } } as const;
  await client.patch(NETWORKS, { namespace, name: 'old' }, finalizers);
  await client.patch(NETWORKS, { namespace, name: 'old' }, { type: 'merge', body: { metadata: { finalizers: [] } } });
  await client.delete(NETWORKS, { namespace, name: 'old' });
});
