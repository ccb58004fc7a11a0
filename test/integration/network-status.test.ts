/** The status that the cluster manager writes, on a real API server: it takes all of it, and kubectl shows it. */

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { crdFiles } from '../../api/crd/crds.ts';
import type { NetworkStatus } from '../../api/network-status.ts';
import { CLUSTER_USER_DEFINED_NETWORKS, NODE_NETWORK_REPORTS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createManager } from '../../cluster-manager/controllers/manager.ts';
import { cudn, layer2Udn, layer3Udn, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS } from '../../kube/resources.ts';
import type { KubeClient, ObjectRef, ResourceType } from '../../kube/types.ts';
import { formatRanges, rangesOf } from '../../net/id-ranges.ts';
import { eventually } from '../conformance/kube/harness.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';

/** How full a network is gets written at once, not after half a minute. */
const hurriedClock: Clock = {
  ...systemClock,
  schedule: (milliseconds, callback) => systemClock.schedule(Math.min(milliseconds, 1000), callback),
};

let server: RealServer;
let client: KubeClient;
let kubectl: Kubectl;
const stop = new AbortController();
let ended: Promise<void> | undefined;

beforeAll(async () => {
  server = await startRealServer('test-network-status');
  client = await server.connect();
  kubectl = await createKubectl(await readFile(server.kubeconfig, 'utf8'));
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
    clock: hurriedClock,
  });
  ended = manager.run(stop.signal);
}, 120_000);
afterAll(async () => {
  stop.abort();
  await ended;
  for (const name of NAMES) await client?.delete(NAMESPACES, { name }).catch(() => {});
  await client?.delete(CLUSTER_USER_DEFINED_NETWORKS, { name: 'st-red' }).catch(() => {});
  for (const { metadata } of nodes) await client?.delete(NODES, { name: metadata.name }).catch(() => {});
  await kubectl?.close();
  client?.close();
  await server?.close();
});

const NAMES = ['st-l2', 'st-l3', 'st-shared'];
const nodes = ['st-n1', 'st-n2'].map((name) => node(name, {}, { creationTimestamp: undefined }));

const createTenant = async (name: string): Promise<void> => {
  await client.create(NAMESPACES, tenant(name));
  // A real server lets pods in only when it is there; a controller may have been quicker.
  await client.create(SERVICE_ACCOUNTS, { metadata: { namespace: name, name: 'default' } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
};

const newPod = (key: string) =>
  client.create(PODS, pod(key, { uid: undefined, creationTimestamp: undefined }, { nodeName: 'st-n1' }));

const statusOf = async (resource: ResourceType, ref: ObjectRef): Promise<NetworkStatus> =>
  ((await client.get(resource, ref))['status'] ?? {}) as NetworkStatus;

/** As the agent of the node does. */
const report = async (name: string, status: Readonly<Record<string, unknown>>): Promise<void> => {
  const { uid } = (await client.get(NODES, { name })).metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  const body = { metadata: { name, ownerReferences }, status };
  await client.patch(NODE_NETWORK_REPORTS, { name }, { type: 'apply', body, fieldManager: 'udn-agent' });
};

const UDN = (namespace: string): ObjectRef => ({ namespace, name: 'net' });

describe('on a real API server', () => {
  it('a network says what it got, and how full it is', async () => {
    for (const one of nodes) await client.create(NODES, one);
    await createTenant('st-l2');
    await createTenant('st-l3');
    await client.create(USER_DEFINED_NETWORKS, layer2Udn('st-l2/net', ['10.20.0.0/16']));
    await client.create(USER_DEFINED_NETWORKS, layer3Udn('st-l3/net', ['10.21.0.0/16']));
    for (const name of ['a', 'b', 'c']) await newPod(`st-l2/${name}`);
    await eventually(async () => {
      const { networkID = 0, ...status } = await statusOf(USER_DEFINED_NETWORKS, UDN('st-l2'));
      expect(status).toMatchObject({
        networkName: 'st-l2_net',
        vrf: { name: `mp${networkID}-udn-vrf`, table: 100_000 + networkID },
        subnets: ['10.20.0.0/16'],
        pods: 3,
        usage: [{ subnet: '10.20.0.0/16', unit: 'Addresses', used: 3, free: 65_536 - 4 - 3 }],
      });
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ status: 'Unknown', reason: 'NodesSilent', observedGeneration: 1 });
    });
    await eventually(async () => {
      const { nodes: reported, subnets } = await statusOf(USER_DEFINED_NETWORKS, UDN('st-l3'));
      expect(subnets).toEqual(['10.21.0.0/16/24']);
      expect(reported).toMatchObject({ failed: 0 });
      expect(reported?.allocated).toBe(reported?.total);
      expect(reported?.total).toBeGreaterThanOrEqual(2);
    });
    const { metadata } = await client.get(USER_DEFINED_NETWORKS, UDN('st-l2'));
    const owners = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status');
    expect(owners.map(({ manager }) => manager).sort()).toEqual([
      'udn-network-usage',
      'user-defined-network-controller',
    ]);
  });

  it('kubectl shows it, and explains every field', async () => {
    const table = await kubectl.run('get', 'udn', '-n', 'st-l2');
    expect(
      table
        .split('\n')[0]
        ?.trim()
        .split(/ {2,}|\t/),
    ).toEqual(expect.arrayContaining(['NAME', 'TOPOLOGY', 'ROLE', 'SUBNETS', 'ID', 'NODES', 'READY', 'STATE', 'AGE']));
    expect(table).toMatch(/^net +Layer2 +Primary +10\.20\.0\.0\/16 +[0-9]+ +0\/[0-9]+ +Unknown +NodesSilent +[0-9]+/m);
    const wide = await kubectl.run('get', 'udn', '-n', 'st-l2', '-o', 'wide');
    expect(wide).toMatch(/ 3 +mp[0-9]+-udn-vrf +None of the [0-9]+ nodes has reported/);
    expect(await kubectl.run('get', 'ovn-udn', '-n', 'st-l3')).toContain('10.21.0.0/16/24');
    expect(await kubectl.run('explain', 'cudn.spec.network.layer2.ipam.lifecycle')).toContain('outlive the pods');
    expect(await kubectl.run('explain', 'udn.status.blockedBy.names')).toContain('as namespace/name');
    expect(await kubectl.run('explain', 'ipamclaims.spec.network')).toContain('cluster_udn_blue');
  });

  it('a network says how many nodes report it, and kubectl shows the reports', async () => {
    const { networkID: id = 0, networkName: network = '' } = await statusOf(USER_DEFINED_NETWORKS, UDN('st-l2'));
    const ids = { ready: formatRanges(rangesOf([0, id])), pending: '', failed: '' };
    const exceptions = [{ network, state: 'Failed', message: 'EINVAL', since: '2026-01-01T00:00:00Z' }];
    const observed = '2999-01-01T00:00:00Z';
    await report('st-n1', { rendering: 'Always', observed, networks: { ready: 2, pending: 0, failed: 0 }, ids });
    await report('st-n2', {
      ...{ rendering: 'OnDemand', observed, networks: { ready: 0, pending: 0, failed: 1 }, exceptions },
      ids: { ready: '', pending: '', failed: `${id}` },
    });
    await eventually(async () => {
      const { nodes: reported, conditions } = await statusOf(USER_DEFINED_NETWORKS, UDN('st-l2'));
      const problems = [{ node: 'st-n2', message: 'EINVAL' }];
      expect(reported).toMatchObject({ ready: 1, pending: 0, failing: 1, problems });
      expect(conditions?.find(({ type }) => type === 'NodesReady')).toMatchObject({ reason: 'NodesFailing' });
      expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
        status: 'False',
        reason: 'NodesFailing',
      });
    });
    expect(await kubectl.run('get', 'udn', '-n', 'st-l2')).toMatch(/ 1\/[0-9]+ +False +NodesFailing /);
    // `kubectl wait` waits for all nodes.
    const nodesOfCluster = (await client.list(NODES)).items.map(({ metadata }) => metadata.name);
    const waiting = kubectl.run('wait', '-n', 'st-l2', 'udn/net', '--for=condition=Ready', '--timeout=30s');
    for (const one of nodesOfCluster) {
      await report(one, { rendering: 'Always', observed, networks: { ready: 2, pending: 0, failed: 0 }, ids });
    }
    expect(await waiting).toContain('condition met');
    await report('st-n2', {
      ...{ rendering: 'OnDemand', observed, networks: { ready: 0, pending: 0, failed: 1 }, exceptions },
      ids: { ready: '', pending: '', failed: `${id}` },
    });
    const table = await kubectl.run('get', 'nnr', '-o', 'wide');
    expect(table).toMatch(/^NAME +READY +PENDING +FAILED +FAILING +RENDERING +AGE +MESSAGE/);
    expect(table).toMatch(/^st-n2 +0 +0 +1 +OnDemand +\S+ +EINVAL/m);
    expect(await kubectl.run('explain', 'nodenetworkreports.status.ids.ready')).toContain('0-57,59');
    // All of the status is one value with one owner.
    const { metadata } = await client.get(NODE_NETWORK_REPORTS, { name: 'st-n1' });
    expect(JSON.stringify(metadata.managedFields)).toContain('"f:status":{}');
  });

  it('a deletion names its pods and ends with the last of them', async () => {
    await client.delete(USER_DEFINED_NETWORKS, UDN('st-l2'));
    await eventually(async () => {
      const { blockedBy, conditions } = await statusOf(USER_DEFINED_NETWORKS, UDN('st-l2'));
      expect(blockedBy).toEqual({ pods: 3, names: ['st-l2/a', 'st-l2/b', 'st-l2/c'] });
      expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False' });
    });
    for (const name of ['a', 'b', 'c']) {
      await client.delete(PODS, { namespace: 'st-l2', name }, { gracePeriodSeconds: 0 });
    }
    await eventually(async () => {
      const error = await client.get(USER_DEFINED_NETWORKS, UDN('st-l2')).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isNotFound(error)).toBe(true);
    });
  });

  it('a transport that is not there yet is refused in a condition', async () => {
    await createTenant('st-shared');
    const layer2 = { role: 'Primary', subnets: ['10.22.0.0/16'] };
    const evpn = { vtep: 'v', macVRF: { vni: 7 } };
    await client.create(
      CLUSTER_USER_DEFINED_NETWORKS,
      cudn(
        'st-red',
        { matchLabels: { 'kubernetes.io/metadata.name': 'st-shared' } },
        {
          topology: 'Layer2',
          layer2,
          transport: 'EVPN',
          evpn,
        },
      ),
    );
    await eventually(async () => {
      const { conditions = [] } = await statusOf(CLUSTER_USER_DEFINED_NETWORKS, { name: 'st-red' });
      expect(conditions.find(({ type }) => type === 'TransportAccepted')).toMatchObject({
        status: 'False',
        reason: 'TransportNotSupported',
        message: "transport 'EVPN' is not supported yet",
        observedGeneration: 1,
      });
      expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False' });
    });
  });
});
