/** What a user may not read is named, and the rest is shown. */
import { expect, it } from 'vitest';
import { cudn, layer2Udn, nad, namespace, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { clusterNetworks, clusterPods, clusterServices } from '../commands/cluster-lists.ts';
import { askWhy } from '../commands/why.ts';
import { DEFAULT_ENTRY, entry, NOW, nadOf, settledNetwork, settledPod, warning } from '../why/testing/objects.ts';

const refuse = (status: number): never => {
  throw new KubeError('ERR_KUBE_STATUS', 'refused', { status });
};

/** A server with these objects that answers some kinds with a status. */
const server = (
  objects: readonly object[],
  refused: Readonly<Record<string, number>>,
): Pick<KubeClient, 'get' | 'list'> => {
  const all = objects as readonly KubeObject[];
  return {
    get: async ({ plural, kind }, { name }) => {
      if (refused[plural] !== undefined) return refuse(refused[plural]);
      return all.find((one) => one.kind === kind && one.metadata.name === name) ?? refuse(404);
    },
    list: async ({ plural, kind }, { namespace } = {}) => {
      if (refused[plural] !== undefined) return refuse(refused[plural]);
      const items = all
        .filter((one) => one.kind === kind && (namespace === undefined || one.metadata.namespace === namespace))
        .map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
      return { items, resourceVersion: '1' };
    },
  };
};

const shop = settledNetwork(
  cudn('shop', {}, { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.100.0.0/16'] } }),
);
const web = settledPod('red/web', { ...DEFAULT_ENTRY, ...entry('red/shop', '10.100.0.4/16') });
const objects = [tenant('red'), shop, nadOf(shop, 'red'), web, pod('blue/other')];
const TENANT = { clusteruserdefinednetworks: 403, nodes: 403, leases: 403 };
const question = { in: 'red', now: NOW, isWide: false };

it('a tenant sees its network of the cluster by its NAD', async () => {
  const { tables, notes, data } = await clusterNetworks(server(objects, TENANT), question);
  expect(tables[0]?.rows.map((row) => row.slice(0, 7))).toEqual([
    ['cluster_udn_shop', 'cudn shop', 'layer2', 'primary', '10.100.0.0/16', '1', 'ready'],
  ]);
  expect(notes).toEqual([
    'not shown: clusteruserdefinednetworks.k8s.ovn.org: you may not list them',
    'not shown: nodes: you may not list them',
  ]);
  expect(data).toMatchObject({ unread: expect.arrayContaining([{ what: 'nodes', why: 'you may not list them' }]) });
});

it('a tenant sees its pods and why they wait', async () => {
  const { tables } = await clusterPods(server(objects, TENANT), question);
  expect(tables[0]?.rows).toEqual([
    ['red/web', 'cluster_udn_shop', '10.100.0.4/16', '0a:58:0a:64:00:04', '10.100.0.1', 'n1', 'ready'],
  ]);
  const { lines, exitStatus } = await askWhy(server(objects, TENANT), { kind: 'pod', name: 'red/web' }, NOW);
  expect(lines[0]).toBe('pod red/web is ready, as far as could be read');
  expect(exitStatus).toBe(0);
});

it('an event informs a tenant of what it cannot see: that others have all addresses', async () => {
  const waits = settledPod('red/web', DEFAULT_ENTRY);
  const event = warning('Pod/red/web', 'network cluster_udn_shop: subnet 10.100.0.0/16 has no free address left');
  const cluster = server([tenant('red'), nadOf(shop, 'red'), waits, event as object], TENANT);
  const { data } = await askWhy(cluster, { kind: 'pod', name: 'red/web' }, NOW);
  expect(data).toMatchObject({ cause: 'addresses-exhausted' });
});

it('without anything, nothing is said to be well', async () => {
  const nothing = {
    ...TENANT,
    pods: 403,
    userdefinednetworks: 403,
    namespaces: 403,
    'network-attachment-definitions': 403,
    events: 403,
  };
  const { lines, exitStatus } = await askWhy(server(objects, nothing), { kind: 'pod', name: 'red/web' }, NOW);
  expect([lines[0], exitStatus]).toEqual([
    'pod red/web cannot be inspected: pods of namespace red: you may not list them',
    1,
  ]);
  const { notes } = await clusterPods(server(objects, nothing), question);
  expect(notes).toContain('not shown: namespace red: you may not get it');
});

it('a cluster without ovn-udn says so, and a server that is away is an error', async () => {
  const bare = server([], {
    userdefinednetworks: 404,
    clusteruserdefinednetworks: 404,
    'network-attachment-definitions': 404,
  });
  const { notes } = await clusterNetworks(bare, { ...question, in: undefined });
  expect(notes).toContain(
    'not shown: userdefinednetworks.k8s.ovn.org: the API server does not serve this kind: ovn-udn is not installed, or its definition was deleted',
  );
  await expect(clusterNetworks(server([], { pods: 500 }), question)).rejects.toThrow('refused');
  await expect(clusterNetworks(server([], { nodes: 401 }), question)).rejects.toThrow('refused');
});

it('labels select networks and pods; what is no selector is reported', async () => {
  const labelled = {
    ...layer2Udn('red/net', ['10.1.0.0/16']),
    metadata: { namespace: 'red', name: 'net', labels: { tier: 'web' } },
  };
  const cluster = server([tenant('red'), labelled, nad('red/hand', '{'), shop], {});
  const { tables } = await clusterNetworks(cluster, { ...question, in: undefined, selector: 'tier=web' });
  expect(tables[0]?.rows.map(([name]) => name)).toEqual(['red_net']);
  await expect(clusterNetworks(cluster, { ...question, selector: 'a in' })).rejects.toMatchObject({ exitStatus: 2 });
});

const service = {
  ...{ kind: 'Service', metadata: { namespace: 'red', name: 'web' } },
  spec: { type: 'ClusterIP', clusterIPs: ['10.96.0.2'], ports: [{ port: 80 }] },
};
const ofRed = [...objects, service, { ...service, metadata: { namespace: 'blue', name: 'web' } }];
const servicesOf = async (refused: Readonly<Record<string, number>>) => {
  const { tables, notes, data } = await clusterServices(server(ofRed, refused), question);
  return { rows: tables[0]?.rows, notes, data };
};

it('a tenant sees its Services, on its network of the cluster', async () => {
  const { rows, notes } = await servicesOf(TENANT);
  expect(rows).toEqual([
    ['red', 'web', 'cluster_udn_shop', 'ClusterIP', '10.96.0.2', '80/TCP', 'none: connections are rejected', ''],
  ]);
  expect(notes).toEqual(['not shown: clusteruserdefinednetworks.k8s.ovn.org: you may not list them']);
});

it('without slices, nothing is said of endpoints; without Services, there are none; both are reported', async () => {
  const what = 'endpointslices.discovery.k8s.io of namespace red: you may not list them';
  const slices = await servicesOf({ endpointslices: 403 });
  const note = `endpoints unknown: ${what}`;
  expect(slices.rows).toEqual([['red', 'web', 'cluster_udn_shop', 'ClusterIP', '10.96.0.2', '80/TCP', '?', note]]);
  expect(slices.notes).toEqual([`not shown: ${what}`]);
  expect(await servicesOf({ services: 403 })).toMatchObject({
    rows: [],
    notes: ['not shown: services of namespace red: you may not list them'],
    data: { items: [], unread: [{ what: 'services of namespace red', why: 'you may not list them' }] },
  });
});

it.each([
  ['namespaces', 'namespace red: you may not get it'],
  [
    'network-attachment-definitions',
    'network-attachment-definitions.k8s.cni.cncf.io of namespace red: you may not list them',
  ],
])('without %s, nobody knows the network of a Service', async (resource, why) => {
  const { rows, notes } = await servicesOf({ [resource]: 403 });
  expect(rows).toEqual([['red', 'web', '?', 'ClusterIP', '10.96.0.2', '80/TCP', '?', `unknown network: ${why}`]]);
  expect(notes).toEqual([`not shown: ${why}`]);
});

it('Services of the default network need no NADs', async () => {
  const plain = { ...service, metadata: { namespace: 'plain', name: 'web' } };
  const bare = server([namespace('plain'), plain], { 'network-attachment-definitions': 404 });
  const { tables } = await clusterServices(bare, { ...question, in: undefined });
  expect(tables[0]?.rows[0]?.[2]).toBe('default');
  await expect(clusterServices(bare, { ...question, selector: 'a in' })).rejects.toMatchObject({ exitStatus: 2 });
});

it('what cannot be read at all is named', async () => {
  const { notes } = await clusterPods(server([{ kind: 'Pod', metadata: { name: 5 } }], {}), {
    ...question,
    in: undefined,
  });
  expect(notes).toEqual([expect.stringMatching(/^not shown: Pod .*metadata\.name/)]);
});
