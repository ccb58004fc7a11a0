/** `udnctl check` on a real API server: before an installation, after one, and with everything that can be wrong with it. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckOptions, check } from '../../../cli/commands/check.ts';
import { DAEMON_SETS, DEPLOYMENTS, LEASES, NAMESPACES, NODES, PODS } from '../../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../../kube/types.ts';
import { eventually } from '../../conformance/kube/harness.ts';
import { createKubectl, type Kubectl } from '../../conformance/kube/kubectl.ts';
import { type RealServer, startRealServer } from '../../conformance/kube/real-server.ts';
import { connectAs } from '../connect-as.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const AFTER: CheckOptions = { namespace: 'ovn-udn', before: false, now: NOW };
const BEFORE: CheckOptions = { ...AFTER, before: true };

let server: RealServer;
let kubectl: Kubectl;
let client: KubeClient;
beforeAll(async () => {
  server = await startRealServer('test-check', { definitions: false });
  kubectl = await createKubectl(await readFile(server.kubeconfig, 'utf8'));
  client = await server.connect();
}, 180_000);
afterAll(async () => {
  await kubectl?.close();
  client?.close();
  await server?.close();
});

/** What is not as it should be. */
const faults = async (options: CheckOptions, asked = client): Promise<string[]> => {
  const { lines } = await check(asked, options);
  return lines.filter((line) => !line.startsWith('ok: ') && !line.startsWith('warning: kube-proxy'));
};

const setStatus = (resource: ResourceType, name: string, status: unknown, namespace = 'ovn-udn') =>
  client.patch(resource, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });

const rolledOut = async (): Promise<void> => {
  await setStatus(DAEMON_SETS, 'udn-agent', AGENTS);
  await setStatus(DEPLOYMENTS, 'udn-cluster-manager', MANAGERS);
};
const AGENTS = {
  ...{ observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0 },
  ...{ updatedNumberScheduled: 2, numberReady: 2 },
};
const MANAGERS = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };

describe('before an installation', () => {
  it('says that it can be', async () => {
    const { exitStatus, lines } = await check(client, BEFORE);
    expect(lines).toEqual([
      expect.stringMatching(/^ok: API server, v1\.\d+\.\d+$/),
      'ok: admission policies are served',
      'ok: this user may install',
      'ok: no installation outside of namespace ovn-udn',
      expect.stringMatching(/^warning: kube-proxy: no DaemonSet: without it/),
    ]);
    expect(exitStatus).toBe(0);
  });

  it('says what is missing, when it is asked for the installation', async () => {
    const { exitStatus, lines } = await check(client, AFTER);
    expect(exitStatus).toBe(1);
    const text = lines.join('\n');
    for (const line of [
      'failed: userdefinednetworks.k8s.ovn.org: it does not exist: kubectl apply -k daemonset/',
      'failed: rights of udn-agent: it may not create events; ',
      'failed: admission policies: default-network-annotation does not exist; ',
      'failed: udn-cluster-manager: the Deployment ovn-udn/udn-cluster-manager does not exist',
      'failed: leader: the Lease ovn-udn/udn-cluster-manager has never been held',
      'failed: udn-agent: the DaemonSet ovn-udn/udn-agent does not exist',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('names other network programs', async () => {
    const metadata = { namespace: 'kube-system' };
    const spec = {
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
    };
    const names = ['kube-proxy', 'kube-multus-ds', 'kube-flannel-ds', 'ovnkube-node', 'ovnkube-nodes-of-others'];
    for (const name of names) await client.create(DAEMON_SETS, { metadata: { ...metadata, name }, spec });
    const { lines } = await check(client, BEFORE);
    for (const name of names) await client.delete(DAEMON_SETS, { ...metadata, name });
    expect(lines.filter((line) => line.startsWith('warning')).map((line) => line.split(': ')[1])).toEqual([
      'kube-proxy',
      'kube-flannel-ds',
      'kube-multus-ds',
      'ovnkube-node',
    ]);
  });
});

describe('after an installation', () => {
  beforeAll(async () => {
    await kubectl.run('apply', '-k', 'daemonset');
    await kubectl.run('wait', '--for=condition=Established', 'crd', '--all', '--timeout=10s');
    await client.create(LEASES, {
      metadata: { namespace: 'ovn-udn', name: 'udn-cluster-manager' },
      spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2029-12-31T23:59:50.000000Z' },
    });
    for (const name of ['node-1', 'node-2']) {
      const annotations = { 'k8s.ovn.org/node-chassis-id': name, 'k8s.ovn.org/node-subnets': '{}' };
      await client.create(NODES, { metadata: { name, annotations } });
    }
    await rolledOut();
  });

  it('says that all is well', async () => {
    const { exitStatus, lines } = await check(client, AFTER);
    expect(lines.filter((line) => line.startsWith('failed'))).toEqual([]);
    expect(lines).toContain('ok: leader, one');
    expect(lines).toContain('ok: udn-agent, on 2 nodes');
    expect(exitStatus).toBe(0);
  });

  it.each([
    ['not ready', { numberReady: 1 }, '1 of 2 pods are not ready: /readyz of each gives the reasons'],
    ['of an older version', { updatedNumberScheduled: 0 }, '2 of 2 pods run an older version'],
    ['not seen yet', { observedGeneration: 0 }, 'it has not been rolled out yet'],
  ])('agents that are %s', async (_, status, message) => {
    await setStatus(DAEMON_SETS, 'udn-agent', { ...AGENTS, ...status });
    const found = await faults(AFTER);
    await rolledOut();
    expect(found).toEqual([`failed: udn-agent, on 2 nodes: ${message}`]);
  });

  it('agents whose image is missing', async () => {
    const labels = { 'app.kubernetes.io/name': 'udn-agent' };
    const metadata = { namespace: 'ovn-udn', name: 'udn-agent-x', labels };
    const ref = { namespace: 'ovn-udn', name: 'udn-agent-x' };
    const spec = { nodeName: 'node-1', containers: [{ name: 'udn-agent', image: 'missing' }] };
    await client.create(PODS, { metadata, spec });
    const state = { waiting: { reason: 'ErrImagePull', message: 'not found' } };
    const status = {
      containerStatuses: [{ name: 'udn-agent', image: 'missing', imageID: '', ready: false, restartCount: 0, state }],
    };
    await client.patch(PODS, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    await setStatus(DAEMON_SETS, 'udn-agent', { ...AGENTS, numberReady: 1 });
    const found = await faults(AFTER);
    await rolledOut();
    await client.delete(PODS, ref);
    expect(found).toEqual([
      'failed: udn-agent, on 2 nodes: 1 of 2 pods are not ready: image missing of udn-agent cannot be pulled: not found; load it on the node, or set another name in the overlay or the values (node-1)',
    ]);
  });

  it('another installation, for both of them and before an installation', async () => {
    await client.create(NAMESPACES, { metadata: { name: 'second' } });
    await client.create(DAEMON_SETS, {
      metadata: { namespace: 'second', name: 'udn-agent' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
      },
    });
    const found = await faults(AFTER);
    const before = await faults({ ...BEFORE, namespace: 'third' });
    await client.delete(DAEMON_SETS, { namespace: 'second', name: 'udn-agent' });
    const message = (namespaces: string): string =>
      `failed: installations: another one is in namespace ${namespaces}: a cluster has one; upgrade that one in its namespace, or uninstall it first`;
    expect(found).toEqual([message('second')]);
    expect(before).toContain(message('ovn-udn, second'));
  });

  it('Open vSwitch and OVN in the cluster that are not ready', async () => {
    const before = await faults(AFTER);
    await kubectl.run('apply', '-k', 'daemonset/ovn');
    await setStatus(DAEMON_SETS, 'udn-ovn', { ...AGENTS, numberReady: 0 }, 'udn-ovn');
    const found = await faults(AFTER);
    await kubectl.run('delete', '-k', 'daemonset/ovn', '--wait=false');
    expect(before).toEqual([]);
    expect(found).toEqual([
      'failed: udn-ovn, on 2 nodes: 2 of 2 pods are not ready: kubectl describe pod names the container',
    ]);
  });

  it.each([
    ['do not run', { availableReplicas: 0, readyReplicas: 0 }, '2 are not available'],
    ['are of an older version', { updatedReplicas: 1 }, '1 run an older version'],
  ])('cluster managers that %s', async (_, status, message) => {
    await setStatus(DEPLOYMENTS, 'udn-cluster-manager', { ...MANAGERS, ...status });
    const found = await faults(AFTER);
    await rolledOut();
    expect(found).toEqual([`failed: udn-cluster-manager, 2 of them: ${message}`]);
  });

  it('a leader that is silent', async () => {
    expect(await faults({ ...AFTER, now: NOW + 60_000 })).toEqual([
      'failed: leader, one: it last renewed its Lease at 2029-12-31T23:59:50.000000Z',
    ]);
  });

  it('nodes that nobody serves', async () => {
    for (let n = 10; n < 17; n += 1) await client.create(NODES, { metadata: { name: `node-${n}` } });
    const found = await faults(AFTER);
    for (let n = 10; n < 17; n += 1) await client.delete(NODES, { name: `node-${n}` });
    const named = 'node-10, node-11, node-12, node-13, node-14 and 2 more';
    expect(found).toEqual([
      `failed: nodes, 9 of them: no agent has reported a chassis id: ${named}; no subnets allocated: ${named}`,
    ]);
  });

  it('rights that were taken away', async () => {
    await kubectl.run('delete', 'clusterrolebinding', 'ovn-udn-agent');
    const found = await eventually(async () => {
      const lines = await faults(AFTER);
      expect(lines).toHaveLength(1);
      return lines;
    });
    expect(found[0]).toMatch(/^failed: rights of udn-agent: it may not create events; .*it may not patch pods/);
    await restored();
  });

  it('a definition of another version', async () => {
    const crd = 'clusteruserdefinednetworks.k8s.ovn.org';
    const patch = '[{"op":"remove","path":"/spec/names/shortNames"}]';
    await kubectl.run('patch', 'crd', crd, '--type=json', '-p', patch);
    expect(await faults(AFTER)).toEqual([
      `failed: ${crd}: it differs from this version in spec.names.shortNames: apply daemonset/crds again`,
    ]);
    await restored();
  });

  it('policies that do nothing', async () => {
    const kind = 'validatingadmissionpolicybinding';
    await kubectl.run('delete', kind, 'ovn-udn-finalizers');
    await kubectl.run('patch', kind, 'default-network-annotation', '-p', '{"spec":{"validationActions":["Audit"]}}');
    expect(await faults(AFTER)).toEqual([
      'failed: admission policies: the binding of default-network-annotation does not deny; ovn-udn-finalizers has no binding',
    ]);
    await restored();
  });

  /** An overlay that changes the namespace and nothing else: expressions are no references. */
  it('policies that name the accounts of another namespace', async () => {
    const found = await faults({ ...AFTER, namespace: 'elsewhere' });
    const policies = found.find((line) => line.startsWith('failed: admission policies')) ?? '';
    expect(policies).toContain(
      'ovn-udn-nodes does not cover the service account system:serviceaccount:elsewhere:udn-agent',
    );
    expect(policies.split('; ')).toHaveLength(6);
  });

  it('what this user may not see is no fault', async () => {
    const agent = await agentClient();
    const { exitStatus, lines } = await check(agent, AFTER);
    agent.close();
    expect(exitStatus).toBe(2);
    expect(lines.filter((line) => line.startsWith('failed'))).toEqual([]);
    expect(lines.find((line) => line.startsWith('unknown: leader'))).toContain('cannot get resource "leases"');
  });

  const restored = async (): Promise<void> => {
    await kubectl.run('apply', '-k', 'daemonset');
    await eventually(async () => expect(await faults(AFTER)).toEqual([]));
  };
});

/** Somebody with few rights. */
const agentClient = async (): Promise<KubeClient> => {
  const as = { as: 'system:serviceaccount:ovn-udn:udn-agent', 'as-groups': ['system:authenticated'] };
  return await connectAs(await readFile(server.kubeconfig, 'utf8'), (user) => ({ ...user, ...as }));
};
