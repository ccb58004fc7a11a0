/**
 * An installation by the book (docs/install.md), with Open vSwitch and OVN in the cluster: nodes that have none, real kubelets,
 * the images of `make images`, the manifests by `kubectl apply -k`. Tenants, upgrades under traffic, and what is left in the end.
 * Needs root and `make build`.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import { settingsEnvironment } from '../../sandbox/plan/cluster-settings.ts';
import { API_PORT } from '../../sandbox/plan/netplan.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../oracles/reachability/measure.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, pod } from './support/cluster/manifests.ts';
import { buildImages, loadImages, type Overlays, writeOverlays } from './support/install/installation.ts';
import { nodeTraces } from './support/install/node-traces.ts';
import { addressOfFamily } from './support/packets/packets.ts';
import { pingWhile } from './support/packets/pings.ts';

const NODES = ['node-1', 'node-2'] as const;
const TENANTS = ['red', 'blue'] as const;
const SUBNETS = ['10.84.0.0/16/24', 'fd00:84::/48/64'];
const PODS = TENANTS.flatMap((tenant) => NODES.map((node) => pod(tenant, `${tenant}-${node}`, node)));
const UDNCTL = '/opt/ovn-udn/bin/udnctl';
const cluster = useCluster({
  ...{ name: 'test-with-ovn', api: 'kube', kubelet: 'real', ovn: 'pods', uplink: 'nic' },
  ...{ programs: 'kubelet', definitions: false },
});

let kubectl: Kubectl;
let overlays: Overlays;
let before: readonly (readonly string[])[];

beforeAll(async () => {
  const { kubeconfig = '', datapath } = await cluster().status();
  kubectl = await createKubectl(await readFile(kubeconfig, 'utf8'), 180_000);
  await buildImages();
  await loadImages(cluster(), NODES);
  // No kube-proxy leads programs from 10.96.0.1 to the API server.
  const { UDN_CLUSTER_SUBNETS = '', UDN_SERVICE_SUBNETS = '' } = settingsEnvironment({
    ...{ ipFamily: 'dual', gatewayMode: 'shared', encryption: 'none', settings: {} },
  });
  const api = { KUBERNETES_SERVICE_HOST: '172.20.0.1', KUBERNETES_SERVICE_PORT: String(API_PORT) };
  overlays = await writeOverlays({ UDN_CLUSTER_SUBNETS, UDN_SERVICE_SUBNETS, ...api }, datapath === 'netdev');
  before = await tracesOfNodes();
}, 300_000);
afterAll(async () => {
  await kubectl?.close();
  await overlays?.[Symbol.asyncDispose]();
});

const tracesOfNodes = () => Promise.all(NODES.map((node) => nodeTraces(cluster(), node)));

const inPrograms = (...args: string[]): Promise<string> => kubectl.run('--namespace', 'ovn-udn', ...args);

/** By namespace. */
const WORKLOADS = {
  ovn: ['--namespace', 'udn-ovn', 'daemonset/udn-ovn'],
  agent: ['--namespace', 'ovn-udn', 'daemonset/udn-agent'],
  manager: ['--namespace', 'ovn-udn', 'deployment/udn-cluster-manager'],
} as const;

const rolledOut = async (workload: keyof typeof WORKLOADS): Promise<void> => {
  await kubectl.run('rollout', 'status', '--timeout=150s', ...WORKLOADS[workload]);
};

const agentOf = async (node: string): Promise<string> => {
  const selector = ['--selector', 'app.kubernetes.io/name=udn-agent', '--field-selector', `spec.nodeName=${node}`];
  return (await inPrograms('get', 'pods', ...selector, '-o', 'name')).trim();
};

describe('installed', () => {
  it('everything becomes ready', async () => {
    const start = performance.now();
    await kubectl.run('apply', '-k', overlays.ovn);
    await kubectl.run('apply', '-k', overlays.programs);
    for (const workload of ['manager', 'ovn', 'agent'] as const) await rolledOut(workload);
    await kubectl.run('wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s');
    report(`ready ${seconds(start)} after kubectl apply`);
  }, 300_000);

  it('no container of OVN was started twice', async () => {
    const path =
      '{range .items[*].status.initContainerStatuses[*]}{.restartCount} {end}{range .items[*].status.containerStatuses[*]}{.restartCount} {end}';
    const counts = await kubectl.run('get', 'pods', '--namespace', 'udn-ovn', '-o', `jsonpath=${path}`);
    expect(counts.trim().split(' ')).toEqual(Array.from({ length: 12 }, () => '0'));
  });

  it('the pods of two tenants with the same subnets reach their own on both nodes, over both families, and no other', async () => {
    const start = performance.now();
    await applyAndWait(cluster(), [
      ...TENANTS.flatMap((tenant) => [namespace(tenant), layer3(tenant, 'net', SUBNETS)]),
      ...PODS,
    ]);
    report(`first pods of networks ready after ${seconds(start)}`);
    const pods = await readPods(await cluster().objects());
    expect(pods.map(({ key }) => key).sort()).toEqual(
      PODS.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort(),
    );
    expect(describeDifferences(await measureReachability(cluster(), pods))).toEqual([]);
  });

  it('udnctl in the pod of an agent finds no problem', async () => {
    await eventually(async () => {
      for (const node of NODES) {
        const found = await inPrograms('exec', await agentOf(node), '--', UDNCTL, 'problems');
        expect(found).not.toMatch(/^(error|warning) /m);
      }
    }, 30_000);
    const networks = await inPrograms('exec', await agentOf('node-1'), '--', UDNCTL, 'networks');
    expect(networks).toMatch(/red_net .*ready/);
    const doctor = await inPrograms('exec', await agentOf('node-2'), '--', UDNCTL, 'doctor');
    expect(doctor).not.toMatch(/ovs-vswitchd|ovn-controller|northd/);
  });
});

describe('restarted under traffic, node by node', () => {
  let rows: readonly string[];
  beforeAll(async () => {
    rows = await rowsOfDatabases();
  });

  it.each<[keyof typeof WORKLOADS, number]>([
    // At most one for each node.
    ['agent', 2],
    // The userspace datapath forwards nothing while its process is away: 20 packets a second, for 3 s of each node where nothing else runs.
    ['ovn', 400],
  ])(
    '%s',
    async (workload, most) => {
      const [from, to] = await Promise.all(NODES.map((node) => readPod(cluster(), `red/red-${node}`)));
      const addresses = FAMILIES.map((family) => addressOfFamily(to!, family));
      const start = performance.now();
      const losses = await pingWhile(cluster(), { from: from!.key, to: addresses }, async () => {
        await kubectl.run('rollout', 'restart', ...WORKLOADS[workload]);
        await rolledOut(workload);
      });
      for (const { address, sent, lost } of losses) {
        report(`${workload}: ${lost} of ${sent} to ${address} lost in ${seconds(start)}`);
        expect(sent).toBeGreaterThan(100);
        expect(lost, `to ${address}`).toBeLessThanOrEqual(most);
      }
      await eventually(async () => {
        const pods = await readPods(await cluster().objects());
        expect(describeDifferences(await measureReachability(cluster(), pods))).toEqual([]);
      }, 60_000);
    },
    300_000,
  );

  it('the databases have kept what they had', async () => {
    expect(await rowsOfDatabases()).toEqual(rows);
  });

  it('new pods come', async () => {
    const added = NODES.map((node) => pod('blue', `later-${node}`, node));
    await applyAndWait(cluster(), added);
    const pods = await readPods(await cluster().objects());
    expect(describeDifferences(await measureReachability(cluster(), pods))).toEqual([]);
    await deletePods(cluster(), ...added.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  });
});

describe('uninstalled', () => {
  it('nothing is left on nodes, and of Nodes', async () => {
    for (const [index, traces] of (await tracesOfNodes()).entries()) expect(traces).not.toEqual(before[index]);
    await kubectl.run('delete', 'pods', '--all', '--namespace', 'red');
    await kubectl.run('delete', 'pods', '--all', '--namespace', 'blue');
    await kubectl.run('delete', 'udn', '--all-namespaces', '--all');
    await kubectl.run('delete', '-k', overlays.programs);
    await kubectl.run('apply', '-k', overlays.uninstall);
    const inCleanup = ['--namespace', 'ovn-udn-cleanup'];
    await kubectl.run(...inCleanup, 'rollout', 'status', 'daemonset/udn-cleanup', '--timeout=150s');
    await kubectl.run(...inCleanup, 'wait', 'job/udn-cleanup', '--for=condition=Complete', '--timeout=150s');
    await kubectl.run('delete', '-k', overlays.uninstall);
    await kubectl.run('delete', '-k', overlays.ovn);
    await eventually(async () => expect(await tracesOfNodes()).toEqual(before), 60_000);
    const path = '{range .items[*]}{.metadata.annotations}{"\\n"}{range .status.conditions[*]}{.type}{"\\n"}{end}{end}';
    const nodes = await kubectl.run('get', 'nodes', '-o', `jsonpath=${path}`);
    expect(nodes).not.toContain('k8s.ovn.org');
    expect(nodes).not.toContain('NetworkUnavailable');
  }, 400_000);
});

/** A database that was created again has other rows. */
const rowsOfDatabases = (): Promise<string[]> =>
  Promise.all(
    NODES.flatMap((node) =>
      [
        ['ovs-vsctl', 'get', 'Open_vSwitch', '.', '_uuid'],
        ['ovn-nbctl', '--no-leader-only', 'get', 'NB_Global', '.', '_uuid'],
        ['ovn-sbctl', '--no-leader-only', 'get', 'SB_Global', '.', '_uuid'],
      ].map(async (argv) => `${node} ${(await cluster().node(node, argv)).stdout.trim()}`),
    ),
  );

const seconds = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

const report = (message: string): void => {
  if (process.env['UDN_VERBOSE'] !== undefined) process.stderr.write(`${message}\n`);
};
