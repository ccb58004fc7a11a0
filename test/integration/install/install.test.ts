/** Installed with kubectl and with Helm on a real API server: upgraded from the version before, and a second time. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { cleanNodes } from '../../../cluster-manager/cleanup/clean-nodes.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES, PODS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { eventually, refusal } from '../../conformance/kube/harness.ts';
import { createKubectl, type Kubectl } from '../../conformance/kube/kubectl.ts';
import { type RealServer, startRealServer } from '../../conformance/kube/real-server.ts';
import { CHART, createHelm, type Helm } from './helm.ts';

let server: RealServer;
let kubectl: Kubectl;
let helm: Helm;
let client: KubeClient;
beforeAll(async () => {
  server = await startRealServer('test-install', { definitions: false });
  const kubeconfig = await readFile(server.kubeconfig, 'utf8');
  // Deletion waits for what is in a namespace, and for an API server that may be busy.
  kubectl = await createKubectl(kubeconfig, 120_000);
  client = await server.connect();
  helm = await createHelm(kubeconfig);
}, 600_000);
afterAll(async () => {
  await Promise.all([kubectl?.close(), helm?.close()]);
  client?.close();
  await server?.close();
});

const KINDS = [
  ...['customresourcedefinitions', 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings', 'serviceaccounts'],
  ...['configmaps', 'daemonsets.apps', 'deployments.apps', 'poddisruptionbudgets'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
].join(',');

/** `Kind/name`, with uid and resource version of each object, but for what an API server has of its own. */
const objects = async (): Promise<Map<string, { uid: string; resourceVersion: string }>> => {
  await reviewed();
  const path = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.resourceVersion}{"\\n"}{end}';
  const text = await kubectl.run('get', KINDS, '--namespace', 'ovn-udn', '-o', `jsonpath=${path}`);
  const lines = text.trim().split('\n');
  return new Map(
    lines
      .map((line) => line.split(' '))
      .filter(([name = '']) => OURS.test(name))
      .map(([name = '', uid = '', resourceVersion = '']) => [name, { uid, resourceVersion }]),
  );
};
/** The controller manager says of each policy what it thinks of it, a moment later. */
const reviewed = (): Promise<void> =>
  eventually(async () => {
    const path = '{range .items[*]}{.metadata.generation}={.status.observedGeneration}{"\\n"}{end}';
    const text = await kubectl.run('get', 'validatingadmissionpolicies', '-o', `jsonpath=${path}`);
    expect(text.split('\n').filter((line) => !/^((\d+)=\2)?$/.test(line))).toEqual([]);
  });

const OURS =
  /udn|user-?defined|default-network-annotation|network-attachment|ipamclaims|nodenetworkreports|networkidpools|egressfirewalls|cluster-settings/;

const network = {
  metadata: { namespace: 'red', name: 'net' },
  spec: { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/16' }] } },
};

const apply = (...args: string[]): Promise<string> => kubectl.run('apply', '--validate=strict', ...args);

/** Without waiting: kubectl asks again for one object after the other, five times a second, and is silent about what keeps one. */
const remove = (...args: string[]): Promise<string> =>
  kubectl.run('delete', '--ignore-not-found', '--wait=false', ...args);

/** What is deleted and still there, and why: a namespace with all that is in it, a definition with its objects. */
const leaving = async (): Promise<string[]> => {
  const kinds = [NAMESPACES, CUSTOM_RESOURCE_DEFINITIONS];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  return lists
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata, status }) => `${metadata.name}: ${metadata.finalizers} ${JSON.stringify(status)}`);
};

describe('kubectl apply -k', () => {
  it('upgrades the version before: objects and networks stay', async () => {
    const file = 'test/integration/testdata/daemonset-before.yaml';
    await apply('-f', file);
    await kubectl.run('wait', '--for=condition=Established', 'crd', '--all', '--timeout=10s');
    await client.create(NAMESPACES, {
      metadata: { name: 'red', labels: { 'k8s.ovn.org/primary-user-defined-network': '' } },
    });
    const made = await client.create(USER_DEFINED_NETWORKS, network);
    const before = await objects();
    await apply('-k', 'daemonset');
    const after = await objects();
    for (const [name, { uid }] of before) expect(after.get(name)?.uid, name).toBe(uid);
    expect([...after.keys()].filter((name) => !before.has(name))).toContain('ValidatingAdmissionPolicy/ovn-udn-nodes');
    const kept = await client.get(USER_DEFINED_NETWORKS, network.metadata);
    expect([kept.metadata.uid, kept['spec']]).toEqual([made.metadata.uid, made['spec']]);
    // What was valid before can still be changed.
    const body = { metadata: { labels: { upgraded: 'yes' } } };
    await client.patch(USER_DEFINED_NETWORKS, network.metadata, { type: 'merge', body });
  });

  it('changes nothing a second time', async () => {
    const before = await objects();
    await apply('-k', 'daemonset');
    expect(await objects()).toEqual(before);
  });

  it('server-side, by another field manager, changes no object’s content', async () => {
    const specs = () => kubectl.run('get', KINDS, '-n', 'ovn-udn', '-o', 'jsonpath={.items[*].spec}{.items[*].rules}');
    const before = await specs();
    await apply('-k', 'daemonset', '--server-side', '--force-conflicts', '--field-manager=another');
    expect(await specs()).toBe(before);
  });

  it('a misspelt field is refused', async () => {
    const manifest = await kubectl.run('kustomize', 'daemonset');
    const misspelt = manifest.replace('hostNetwork:', 'hostNetwrk:');
    await expect(kubectl.feed(misspelt, 'apply', '--dry-run=server', '--validate=strict', '-f', '-')).rejects.toThrow(
      'unknown field "spec.template.spec.hostNetwrk"',
    );
  });

  it('is taken away as a whole, with the networks', async () => {
    await remove('-f', 'test/integration/testdata/daemonset-before.yaml');
    await remove('-k', 'daemonset');
    await eventually(async () => expect(await leaving()).toEqual([]), 240_000);
    expect([...(await objects()).keys()]).toEqual([]);
  }, 300_000);
});

describe('uninstall', () => {
  it('is applied, and its account cleans Nodes once the policies are deleted', async () => {
    const name = 'left';
    const annotations = { 'k8s.ovn.org/node-subnets': '{}', 'example.com/mine': 'kept' };
    await client.create(NODES, { metadata: { name, annotations } });
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'KubeletReady' },
      { type: 'NetworkUnavailable', status: 'True', reason: 'AgentNotReporting' },
    ];
    await client.patch(NODES, { name }, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
    await apply('-k', 'daemonset/uninstall');
    const account = 'system:serviceaccount:ovn-udn-cleanup:udn-cleanup';
    for (const [verb, ...what] of [
      ['list', 'nodes'],
      ['patch', 'nodes'],
      ['patch', 'nodes', '--subresource=status'],
    ]) {
      expect(await kubectl.run('auth', 'can-i', `${verb}`, ...what, '--as', account)).toContain('yes');
    }
    await cleanNodes({ client, log: { info: () => undefined } });
    const { metadata, status } = await client.get(NODES, { name });
    expect(metadata.annotations).toEqual({ 'example.com/mine': 'kept' });
    const { conditions: left } = status as { conditions: { type: string }[] };
    expect(left.map(({ type }) => type)).not.toContain('NetworkUnavailable');
    expect(left.map(({ type }) => type)).toContain('Ready');
    await remove('-k', 'daemonset/uninstall');
    await client.delete(NODES, { name });
  });
});

describe('helm', () => {
  const upgrade = (...args: string[]): Promise<string> =>
    helm.run('upgrade', '--install', 'udn', CHART, '--namespace', 'ovn-udn', '--create-namespace', ...args);
  it('installs, and changes nothing a second time', async () => {
    expect(await upgrade()).toContain('STATUS: deployed');
    const before = await objects();
    expect([...before.keys()]).toContain('DaemonSet/udn-agent');
    await upgrade();
    expect(await objects()).toEqual(before);
  });

  it('changes what its values change, and what depends on them', async () => {
    const before = await objects();
    await upgrade('--set', 'settings.mtu=8900');
    const after = await objects();
    const changed = [...after].filter(([name, one]) => one.resourceVersion !== before.get(name)?.resourceVersion);
    expect(changed.map(([name]) => name).sort()).toEqual([
      'ConfigMap/cluster-settings',
      'DaemonSet/udn-agent',
      'Deployment/udn-cluster-manager',
    ]);
  });

  it('takes the namespace over with its labels, where values ask for that', async () => {
    await upgrade('--set', 'namespace.install=true,namespace.labels.team=net', '--take-ownership');
    const labels = await kubectl.run('get', 'namespace', 'ovn-udn', '-o', 'jsonpath={.metadata.labels}');
    expect(JSON.parse(labels)).toMatchObject({ team: 'net', 'pod-security.kubernetes.io/enforce': 'privileged' });
  });

  it('test: a pod that fails leaves no rights', async () => {
    // No kubelet runs here: the pod fails by the word of this test, as soon as it exists.
    const { namespace, name } = { namespace: 'ovn-udn', name: 'udn-connectivity-test' };
    await remove('pod', name, '--namespace', namespace);
    const tested = helm.attempt('test', 'udn', '--namespace', namespace);
    await eventually(() => client.get(PODS, { namespace, name }), 30_000);
    const account = `system:serviceaccount:${namespace}:${name}`;
    const mayExec = () =>
      kubectl.run('auth', 'can-i', 'create', 'pods/exec', '--as', account).then(
        () => true,
        () => false,
      );
    expect(await mayExec()).toBe(true);
    const body = { status: { phase: 'Failed' } };
    await client.patch(PODS, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    const { code, stderr } = await tested;
    expect([code, stderr]).toEqual([1, expect.stringContaining(`pod ${name} failed`)]);
    expect(await mayExec()).toBe(false);
    const left = await kubectl.run('get', `${KINDS}`, '--all-namespaces', '-o', 'name');
    expect(left.split('\n').filter((one) => one.includes('connectivity-test'))).toEqual([]);
  });

  it('leaves the definitions and the networks when it is uninstalled', async () => {
    await client.create(USER_DEFINED_NETWORKS, network);
    await helm.run('uninstall', 'udn', '--namespace', 'ovn-udn');
    const left = [...(await objects()).keys()];
    expect(left.filter((name) => !name.startsWith('CustomResourceDefinition/'))).toEqual([]);
    expect(left).toHaveLength((await readdir('daemonset/crds')).length);
    expect((await client.get(USER_DEFINED_NETWORKS, network.metadata)).metadata.name).toBe('net');
  });

  it('takes over what is left, when it is installed again', async () => {
    expect(await upgrade()).toContain('STATUS: deployed');
    const second = await refusal(client.create(USER_DEFINED_NETWORKS, network));
    expect(second.reason).toBe('AlreadyExists');
  });
});
