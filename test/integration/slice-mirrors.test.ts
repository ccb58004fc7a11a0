/** Mirrors of EndpointSlices on a real API server: whose their fields are after they were created and changed. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { crdFiles } from '../../api/crd/crds.ts';
import { SLICE_CONTROLLER, SLICE_LABELS, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createManager } from '../../cluster-manager/controllers/manager.ts';
import { layer2Udn, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  ENDPOINT_SLICES,
  NAMESPACES,
  PODS,
  SERVICE_ACCOUNTS,
} from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { eventually } from '../conformance/kube/harness.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';

const NAMESPACE = 'mirrors-red';
let server: RealServer;
let client: KubeClient;
const stop = new AbortController();
let ended: Promise<void> | undefined;

beforeAll(async () => {
  server = await startRealServer('test-slice-mirrors');
  client = await server.connect();
  for (const text of Object.values(crdFiles())) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await eventually(() => client.list(USER_DEFINED_NETWORKS));
  const manager = createManager({
    client: await server.connect(),
    events: { record: () => {}, flush: () => Promise.resolve() },
    cluster: parseClusterConfig(),
  });
  ended = manager.run(stop.signal);
  await client.create(NAMESPACES, tenant(NAMESPACE));
  await eventually(() => client.get(SERVICE_ACCOUNTS, { namespace: NAMESPACE, name: 'default' }));
  await client.create(USER_DEFINED_NETWORKS, layer2Udn(`${NAMESPACE}/net`, ['10.20.0.0/16']));
  for (const name of ['a', 'b']) await client.create(PODS, pod(`${NAMESPACE}/${name}`));
}, 120_000);
afterAll(async () => {
  stop.abort();
  await ended;
  await client?.delete(NAMESPACES, { name: NAMESPACE }).catch(() => {});
  client?.close();
  await server?.close();
});

const endpointsOf = (...pods: readonly string[]) =>
  pods.map((name, index) => ({
    addresses: [`10.128.0.${index + 5}`],
    conditions: { ready: true },
    targetRef: { kind: 'Pod', namespace: NAMESPACE, name },
  }));

const mirror = async (): Promise<KubeObject | undefined> => {
  const labelSelector = `${SLICE_LABELS.managedBy}=${SLICE_MIRROR_CONTROLLER}`;
  return (await client.list(ENDPOINT_SLICES, { namespace: NAMESPACE, labelSelector })).items[0];
};

const podsIn = (slice: KubeObject | undefined): string[] =>
  ((slice?.['endpoints'] ?? []) as { targetRef: { name: string } }[]).map(({ targetRef }) => targetRef.name);

it('loses an endpoint and a label that it was created with, and keeps what others added', {
  timeout: 60_000,
}, async () => {
  const source = { namespace: NAMESPACE, name: 'web-1' };
  await client.create(ENDPOINT_SLICES, {
    metadata: {
      ...source,
      labels: {
        [SLICE_LABELS.managedBy]: SLICE_CONTROLLER,
        [SLICE_LABELS.service]: 'web',
        app: 'shop',
        tier: 'front',
        role: 'both',
      },
    },
    addressType: 'IPv4',
    endpoints: endpointsOf('a', 'b'),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  });
  const created = await eventually(async () => {
    const one = await mirror();
    expect(podsIn(one)).toEqual(['a', 'b']);
    return one as KubeObject;
  });
  expect(created.metadata.labels).toMatchObject({ app: 'shop', tier: 'front', role: 'both' });

  // Somebody else owns a label of theirs, and one that we have, too.
  const ref = { namespace: NAMESPACE, name: created.metadata.name };
  const owner = await client.create(CONFIG_MAPS, { metadata: { namespace: NAMESPACE, name: 'theirs' } });
  const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: owner.metadata.uid };
  const body = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...ref,
      labels: { mine: 'yes', role: 'both' },
      annotations: { mine: 'yes' },
      ownerReferences: [foreign],
    },
    addressType: 'IPv4',
  } as const;
  await client.patch(ENDPOINT_SLICES, ref, { type: 'apply', fieldManager: 'other', body });

  await client.patch(ENDPOINT_SLICES, source, {
    type: 'merge',
    body: { metadata: { labels: { tier: null, role: null } }, endpoints: endpointsOf('b') },
  });
  const changed = await eventually(async () => {
    const one = await mirror();
    expect(podsIn(one)).toEqual(['b']);
    expect(one?.metadata.labels).not.toHaveProperty('tier');
    return one as KubeObject;
  });
  expect(changed.metadata.uid).toBe(created.metadata.uid);
  expect(changed.metadata.labels).toMatchObject({ app: 'shop', mine: 'yes', role: 'both' });
  expect(changed.metadata.annotations).toMatchObject({ mine: 'yes' });
  expect(changed.metadata.ownerReferences).toEqual([foreign]);
});
