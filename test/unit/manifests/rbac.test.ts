/** The roles allow what the programs ask for, and nothing else: both run against an API server that writes it down. */

import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { createDatabases } from '../../../agent/databases/databases.ts';
import { NodeCondition } from '../../../agent/health/node-condition.ts';
import { createClusterInputs } from '../../../agent/inputs/cluster-inputs.ts';
import { publishNode } from '../../../agent/node/publisher.ts';
import { MemorySinks } from '../../../agent/render/memory-sinks.ts';
import { NetworkReporter } from '../../../agent/status/network-report/reporter.ts';
import { podEvents } from '../../../agent/status/pod-events.ts';
import { type Core, startCore } from '../../../agent/wiring/core.ts';
import { ADMIN_POLICIES } from '../../../api/admin-network-policy.ts';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import {
  NODE_ANNOTATIONS,
  POD_ANNOTATIONS,
  PRIMARY_NETWORK_LABEL,
  SLICE_CONTROLLER,
  SLICE_LABELS,
  SLICE_MIRROR_CONTROLLER,
} from '../../../api/names.ts';
import { NETWORK_UNAVAILABLE } from '../../../api/node-condition.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  EGRESS_FIREWALLS,
  IPAM_CLAIMS,
  MULTI_NETWORK_POLICIES,
  NETWORK_ATTACHMENT_DEFINITIONS,
  NODE_NETWORK_REPORTS,
  USER_DEFINED_NETWORKS,
} from '../../../api/resources.ts';
import { DEFINITIONS } from '../../../api/testing/definitions.ts';
import { systemClock } from '../../../base/clock.ts';
import { APPLIED } from '../../../cluster-manager/controllers/firewall-status.ts';
import { createManager } from '../../../cluster-manager/controllers/manager.ts';
import { whenLeading } from '../../../cluster-manager/leadership.ts';
import { mirrorName } from '../../../cluster-manager/render/mirrored-slice.ts';
import { createDelegatedAccess } from '../../../kube/access/delegated-access.ts';
import { createEmbeddedCluster } from '../../../kube/embedded/cluster.ts';
import { createEventRecorder } from '../../../kube/events/recorder.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, ENDPOINT_SLICES, NAMESPACES, NODES, PODS } from '../../../kube/resources.ts';
import { definitionOf } from '../../../kube/testing/definition-of.ts';
import type { KubeClient, ResourceType } from '../../../kube/types.ts';
import { createWriter } from '../../../kube/writer/writer.ts';
import { parseIp } from '../../../net/ip.ts';
import { permission, permissionsOf } from './load.ts';
import { recordingClient } from './recording-client.ts';

const CLUSTER = parseClusterConfig();
/** Asked of a server that lacks kinds (kube/reflector/discovery.ts), as that of this test does not. */
const READ_DEFINITIONS = permission('apiextensions.k8s.io', 'customresourcedefinitions', 'get');
const LABELS = { [PRIMARY_NETWORK_LABEL]: '' };

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

const startServer = async (): Promise<KubeClient> => {
  const server = createEmbeddedCluster();
  ends.push(() => server.close());
  const client = server.client('test');
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  for (const policy of [MULTI_NETWORK_POLICIES, ...ADMIN_POLICIES])
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(policy));
  await server.settled();
  await client.create(NODES, { metadata: { name: 'node-1' } });
  await client.create(NAMESPACES, { metadata: { name: 'red', labels: LABELS } });
  await client.create(NAMESPACES, { metadata: { name: 'blue', labels: { ...LABELS, team: 'blue' } } });
  return client;
};

const createPod = (client: KubeClient, namespace: string, annotations: Readonly<Record<string, string>> = {}) =>
  client.create(PODS, {
    metadata: { name: 'web', namespace, annotations },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'toolbox' }] },
  });

const isGone = (client: KubeClient, resource: ResourceType) =>
  vi.waitFor(async () => expect((await client.list(resource)).items).toEqual([]), { timeout: 10_000 });

/** Until the cluster manager says so. */
const agentStopsOn = async (server: KubeClient, name: string): Promise<void> => {
  await server.create(NODE_NETWORK_REPORTS, {
    metadata: { name },
    status: {
      rendering: 'Always',
      networks: { ready: 0, pending: 0, failed: 0 },
      ids: { ready: '', pending: '', failed: '' },
      ...{ renewTime: new Date().toISOString(), leaseDurationSeconds: 1 },
    },
  });
  await vi.waitFor(
    async () =>
      expect((await server.get(NODES, { name }))['status']).toMatchObject({
        conditions: [{ type: 'NetworkUnavailable', status: 'True', reason: 'AgentNotReporting' }],
      }),
    { timeout: 10_000 },
  );
};

it('of the cluster manager', { timeout: 30_000 }, async () => {
  const server = await startServer();
  const { client, used } = recordingClient(
    server,
    [PODS, NETWORK_ATTACHMENT_DEFINITIONS, IPAM_CLAIMS, USER_DEFINED_NETWORKS, CLUSTER_USER_DEFINED_NETWORKS],
    [NETWORK_ATTACHMENT_DEFINITIONS],
  );
  const events = createEventRecorder({ client, component: 'test' });
  const stop = new AbortController();
  const manager = createManager({ client, events, cluster: CLUSTER });
  await server.create(NAMESPACES, { metadata: { name: 'ovn-udn' } });
  const lease = { namespace: 'ovn-udn', name: 'udn-cluster-manager', seconds: 15 };
  const lead = (leading: AbortSignal): Promise<void> => manager.run(leading);
  const running = whenLeading({ client, lease, log: pino({ level: 'silent' }) }, lead, stop.signal);
  ends.push(
    () => running,
    () => stop.abort(),
  );

  await server.create(USER_DEFINED_NETWORKS, {
    metadata: { name: 'net', namespace: 'red' },
    spec: {
      topology: 'Layer2',
      layer2: { role: 'Primary', subnets: ['10.1.0.0/16'], ipam: { lifecycle: 'Persistent' } },
    },
  });
  await server.create(CLUSTER_USER_DEFINED_NETWORKS, {
    metadata: { name: 'net' },
    spec: {
      namespaceSelector: { matchLabels: { team: 'blue' } },
      network: { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.2.0.0/16', hostSubnet: 24 }] } },
    },
  });
  await server.create(IPAM_CLAIMS, {
    metadata: { name: 'web', namespace: 'red' },
    spec: { network: 'red_net', interface: 'ovn-udn1' },
  });
  const asked = [{ namespace: 'ovn-kubernetes', name: 'default', 'ipam-claim-reference': 'web' }];
  await createPod(server, 'red', { [POD_ANNOTATIONS.defaultNetwork]: JSON.stringify(asked) });
  await vi.waitFor(
    async () => {
      const { metadata } = await server.get(PODS, { namespace: 'red', name: 'web' });
      expect(metadata.annotations?.[POD_ANNOTATIONS.networks]).toContain('10.1.0.');
    },
    { timeout: 10_000 },
  );
  // The mirror of a slice comes and goes, in place of what has its name.
  await server.create(ENDPOINT_SLICES, {
    metadata: { name: mirrorName('red_net', 'web'), namespace: 'red' },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  });
  const service = { [SLICE_LABELS.managedBy]: SLICE_CONTROLLER, [SLICE_LABELS.service]: 'web' };
  await server.create(ENDPOINT_SLICES, {
    metadata: { name: 'web', namespace: 'red', labels: service },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.128.0.5'], targetRef: { kind: 'Pod', namespace: 'red', name: 'web' } }],
    ports: [],
  });
  await vi.waitFor(
    async () => {
      const labelSelector = `${SLICE_LABELS.managedBy}=${SLICE_MIRROR_CONTROLLER}`;
      expect((await server.list(ENDPOINT_SLICES, { labelSelector })).items).toHaveLength(1);
    },
    { timeout: 10_000 },
  );
  await server.delete(ENDPOINT_SLICES, { namespace: 'red', name: 'web' });
  await isGone(server, ENDPOINT_SLICES);
  await server.create(EGRESS_FIREWALLS, { metadata: { name: 'default', namespace: 'blue' }, spec: { egress: [] } });
  await vi.waitFor(
    async () => expect((await server.list(EGRESS_FIREWALLS)).items).toMatchObject([{ status: { status: APPLIED } }]),
    { timeout: 10_000 },
  );
  // A second primary network: somebody has to get an event; twice, so that the event is counted up.
  const second = {
    metadata: { name: 'second', namespace: 'red' },
    spec: { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.3.0.0/16'] } },
  };
  for (let round = 0; round < 2; round += 1) {
    await server.create(USER_DEFINED_NETWORKS, second);
    await vi.waitFor(
      async () => {
        const { status } = await server.get(USER_DEFINED_NETWORKS, second.metadata);
        expect(JSON.stringify(status)).toContain('primary network already exist');
      },
      { timeout: 10_000 },
    );
    await server.delete(USER_DEFINED_NETWORKS, second.metadata);
    await vi.waitFor(async () => expect((await server.list(USER_DEFINED_NETWORKS)).items).toHaveLength(1), {
      timeout: 10_000,
    });
  }
  const regarding = { apiVersion: 'v1', kind: 'Namespace', name: 'red', namespace: undefined, uid: undefined };
  for (let round = 0; round < 2; round += 1)
    events.record({ regarding, type: 'Warning', reason: 'Twice', message: 'm' });
  await server.delete(PODS, { namespace: 'red', name: 'web' }, { gracePeriodSeconds: 0 });
  await server.delete(IPAM_CLAIMS, { namespace: 'red', name: 'web' });
  await isGone(server, IPAM_CLAIMS);
  await server.delete(USER_DEFINED_NETWORKS, { namespace: 'red', name: 'net' });
  await server.delete(CLUSTER_USER_DEFINED_NETWORKS, { name: 'net' });
  await isGone(server, USER_DEFINED_NETWORKS);
  await isGone(server, CLUSTER_USER_DEFINED_NETWORKS);
  await isGone(server, NETWORK_ATTACHMENT_DEFINITIONS);
  await events.flush();
  await createDelegatedAccess({ client, clock: systemClock })('/metrics', 'Bearer token');
  await agentStopsOn(server, 'node-1');
  // The Lease is given back.
  stop.abort();
  await running;

  // Asked of admission that the server of this test does not have: a plugin, and the policies of daemonset/admission.
  const ofAdmission = [
    permission('', 'services/finalizers', 'update'),
    ...[
      ...['userdefinednetworks/finalizers', 'clusteruserdefinednetworks/finalizers'],
      ...['allocations/networks', 'allocations/nodes', 'allocations/pods'],
    ].map((resource) => permission('k8s.ovn.org', resource, 'update')),
  ];
  expect([...used, READ_DEFINITIONS, ...ofAdmission].toSorted()).toEqual(
    [...permissionsOf('udn-cluster-manager')].toSorted(),
  );
});

it('of the agent', { timeout: 30_000 }, async () => {
  const server = await startServer();
  await server.patch(
    NODES,
    { name: 'node-1' },
    {
      type: 'merge',
      body: { metadata: { annotations: { 'k8s.ovn.org/node-subnets': '{"default":["10.128.0.0/23"]}' } } },
    },
  );
  await server.create(NAMESPACES, { metadata: { name: 'plain' } });
  const { client, used } = recordingClient(server, [PODS]);
  const stop = new AbortController();
  const inputs = createClusterInputs({ client, node: 'node-1', observe: () => undefined });
  const running = inputs.run(stop.signal);
  ends.push(
    () => running,
    () => stop.abort(),
  );
  await inputs.whenSynced(stop.signal);
  const writer = createWriter({ client, fieldManager: 'udn-agent', random: () => 0 });
  const recorder = createEventRecorder({ client, component: 'udn-agent', host: 'node-1' });
  const emitPodEvent = podEvents(recorder);
  // Never connected: the desired state of them stays in memory.
  const remote = 'unix:/nowhere';
  const databases = createDatabases(
    { northboundRemote: remote, southboundRemote: remote, ovsRemote: remote },
    () => undefined,
  );
  const encapIps = [parseIp('192.0.2.1')];
  const core: Core = startCore({
    domains: { follow: () => () => {}, problemsOfFirewalls: () => [], onNamesChange: () => () => {} },
    local: { feed: () => () => undefined },
    settings: {
      ...{ node: 'node-1', cluster: CLUSTER, encapIps, southboundRemote: remote },
      ...{ networkRendering: 'always', allowedDefaultServices: [] },
    },
    inputs,
    databases,
    datapath: new MemorySinks(),
    followNeighbours: () => () => undefined,
    followCgroups: () => ({ stop: () => undefined }),
    writer,
    emitPodEvent,
    emitServiceEvent: () => undefined,
    emitNodeEvent: () => undefined,
    emitPolicyEvent: () => undefined,
    onPolicyFailure: (_, error) => expect.fail(String(error)),
    networkGraceMs: 0,
    onRendered: () => undefined,
  });
  ends.push(() => core.stop());
  const condition = new NodeCondition({
    ...{ node: 'node-1', type: NETWORK_UNAVAILABLE, client, writer, clock: systemClock },
    onError: (error) => expect.fail(String(error)),
  });
  ends.push(() => condition.stop());
  condition.set({ status: 'True', reason: 'NorthdNotProcessing', message: 'it sleeps' });
  await vi.waitFor(async () =>
    expect((await server.get(NODES, { name: 'node-1' }))['status']).toMatchObject({
      conditions: [{ type: 'NetworkUnavailable', status: 'True' }],
    }),
  );
  ends.push(
    publishNode({
      node: 'node-1',
      desired: () => ({ [NODE_ANNOTATIONS.chassisId]: 'chassis-1' }),
      nodes: inputs.nodes,
      writer,
      onError: (error) => expect.fail(String(error)),
      later: () => undefined,
    }).stop,
  );

  const at = { ...systemClock, schedule: (_: number, callback: () => void) => systemClock.schedule(0, callback) };
  const reporter = new NetworkReporter({
    node: 'node-1',
    rendering: 'Always',
    look: () => ({ id: 0, createdAt: '', state: 'Ready' }),
    nodeUid: () => inputs.nodes.get('node-1')?.uid,
    nodes: () => inputs.nodes.size,
    ...{ client, writer, clock: at, random: () => 0 },
    observe: ({ kind }) => expect(kind).toBe('written'),
  });
  ends.push(() => reporter.stop());
  reporter.touch('default');
  await vi.waitFor(async () => expect((await server.list(NODE_NETWORK_REPORTS)).items).toHaveLength(1));

  const pod = await createPod(server, 'plain');
  await vi.waitFor(
    async () => {
      const { metadata } = await server.get(PODS, { namespace: 'plain', name: 'web' });
      expect(metadata.annotations?.[POD_ANNOTATIONS.networks]).toContain('10.128.0.3/23');
    },
    { timeout: 10_000 },
  );
  for (let round = 0; round < 2; round += 1) {
    emitPodEvent({ namespace: 'plain', name: 'web', uid: pod.metadata.uid }, 'ErrorAttachingPod', 'for the test');
  }
  await recorder.flush();
  await writer.idle();
  await createDelegatedAccess({ client, clock: systemClock })('/metrics', 'Bearer token');

  // Asked of the policies of daemonset/admission.
  const ofAdmission = permission('k8s.ovn.org', 'allocations/pods', 'update');
  expect([...used, READ_DEFINITIONS, ofAdmission].toSorted()).toEqual([...permissionsOf('udn-agent')].toSorted());
});
