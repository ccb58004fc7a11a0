/**
 * An installation by the book: the commands of docs/install.md, on nodes with real kubelets that have no network plugin, no
 * kube-proxy, no Open vSwitch and no OVN; the images of `make images`, and the chart. Tenants, upgrades under traffic, and what is
 * left in the end. With UDN_WRITE_INSTALL=1 what commands print is written into the page. Needs root and `make build`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import { buildImages, loadImages, tagToolbox } from '../../sandbox/install/images.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../oracles/reachability/measure.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { withOutputs } from './support/cluster/console.ts';
import { layer3, namespace, pod } from './support/cluster/manifests.ts';
import { nodeTraces } from './support/install/node-traces.ts';
import { type PageBlock, pageBlocks } from './support/install/page.ts';
import { createReader, type Reader } from './support/install/reader.ts';
import { addressOfFamily } from './support/packets/packets.ts';
import { pingWhile } from './support/packets/pings.ts';

const NODES = ['node-1', 'node-2'] as const;
const TENANTS = ['red', 'blue'] as const;
const SUBNETS = ['10.84.0.0/16/24', 'fd00:84::/48/64'];
const PODS = TENANTS.flatMap((tenant) => NODES.map((node) => pod(tenant, `${tenant}-${node}`, node)));
const UDNCTL = '/opt/ovn-udn/bin/udnctl';
const PAGE = 'docs/install.md';
/** Of the pods on the page: nodes of a cluster have it from a registry. */
const PAGE_IMAGE = 'docker.io/library/busybox:1.37';
const LOOPBACK = '/opt/cni/bin/loopback';
const SERVER_FILE = '/run/ovn-udn/api-server/url';
const isWriting = process.env['UDN_WRITE_INSTALL'] === '1';
const cluster = useCluster({
  ...{ name: 'test-with-ovn', api: 'kube', kubelet: 'real', ovn: 'pods', uplink: 'nic' },
  ...{ programs: 'kubelet', definitions: false },
});

let kubectl: Kubectl;
let reader: Reader;
let page: string;
/** By the heading of the page that they are below. */
let blocks: ReadonlyMap<string, readonly PageBlock[]>;
let before: readonly (readonly string[])[];

beforeAll(async () => {
  const status = await cluster().status();
  const kubeconfig = await readFile(status.kubeconfig ?? '', 'utf8');
  kubectl = await createKubectl(kubeconfig, 180_000);
  await buildImages();
  await loadImages(cluster(), NODES);
  await tagToolbox(cluster(), NODES, PAGE_IMAGE);
  page = await readFile(PAGE, 'utf8');
  blocks = Map.groupBy(
    pageBlocks(page).filter(({ reason }) => reason === undefined),
    ({ part }) => part,
  );
  reader = await createReader({ kubeconfig, isWriting, onBlock: reportBlock });
  // As on nodes of k3s: the agent brings the plugin that containerd runs for each pod.
  for (const node of NODES) await cluster().node(node, ['rm', LOOPBACK]);
  before = await tracesOfNodes();
}, 600_000);
afterAll(async () => {
  await kubectl?.close();
  await reader?.[Symbol.asyncDispose]();
});

const reportBlock = ({ text }: PageBlock, ms: number): void =>
  report(
    `${(ms / 1000).toFixed(1)} s: ${text.split('\n').find((line) => /helm|tenant|check|apply/.test(line)) ?? text}`,
  );

/** Those of the page run no server. */
const tenantPods = async () =>
  (await readPods(await cluster().objects())).filter(({ key }) =>
    TENANTS.some((tenant) => key.startsWith(`${tenant}/`)),
  );

const tracesOfNodes = () => Promise.all(NODES.map((node) => nodeTraces(cluster(), node)));

const inPrograms = (...args: string[]): Promise<string> => kubectl.run('--namespace', 'ovn-udn', ...args);

const WORKLOADS = {
  ovn: ['--namespace', 'ovn-udn', 'daemonset/udn-ovn'],
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
  it('the page’s commands install it, and its first tenant becomes ready', async () => {
    await reader.follow(blocks.get('Install') ?? []);
    for (const workload of ['manager', 'ovn', 'agent'] as const) await rolledOut(workload);
  }, 400_000);

  // The address of the API server was found on the node, both times.
  it.each([
    ['udn-ovn', 12],
    ['udn-agent', 2],
    ['udn-cluster-manager', 2],
  ])('no container of %s was started twice', async (name, count) => {
    const path =
      '{range .items[*].status.initContainerStatuses[*]}{.restartCount} {end}{range .items[*].status.containerStatuses[*]}{.restartCount} {end}';
    const selector = ['--selector', `app.kubernetes.io/name=${name}`];
    const counts = await inPrograms('get', 'pods', ...selector, '-o', `jsonpath=${path}`);
    expect(counts.trim().split(' ')).toEqual(Array.from({ length: count }, () => '0'));
  });

  it('both programs use the API server of the kubelets, as no kube-proxy leads to its ClusterIP', async () => {
    const published = (await cluster().node('node-1', ['cat', SERVER_FILE])).stdout.trim();
    const kubelet = (await cluster().node('node-1', ['grep', 'server:', '/etc/kubernetes/kubelet.conf'])).stdout.trim();
    expect(kubelet).toBe(`server: ${published}`);
    const started = await inPrograms(
      'logs',
      '--selector',
      'app.kubernetes.io/name=udn-cluster-manager',
      '--tail',
      '-1',
    );
    const servers = [...started.matchAll(/"server":"([^"]+)"/g)].map(([, server]) => server);
    expect(new Set(servers)).toEqual(new Set([published]));
    const settings = await inPrograms('get', 'configmaps', '-o', 'yaml');
    expect(settings).not.toContain('KUBERNETES_SERVICE_HOST');
  });

  it('the pods of two tenants with the same subnets reach their own on both nodes, over both families, and no other', async () => {
    const start = performance.now();
    await applyAndWait(cluster(), [
      ...TENANTS.flatMap((tenant) => [namespace(tenant), layer3(tenant, 'net', SUBNETS)]),
      ...PODS,
    ]);
    report(`first pods of networks ready after ${seconds(start)}`);
    const pods = await tenantPods();
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
        expect(sent).toBeGreaterThan(50);
        expect(lost, `to ${address}`).toBeLessThanOrEqual(most);
      }
      await eventually(async () => {
        const pods = await tenantPods();
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
    const pods = await tenantPods();
    expect(describeDifferences(await measureReachability(cluster(), pods))).toEqual([]);
    await deletePods(cluster(), ...added.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  });
});

describe('uninstalled', () => {
  it('nothing is left on nodes, and of Nodes', async () => {
    for (const [index, traces] of (await tracesOfNodes()).entries()) expect(traces).not.toEqual(before[index]);
    for (const tenant of TENANTS) await kubectl.run('delete', 'pods', '--all', '--namespace', tenant);
    await reader.follow(blocks.get('Uninstall') ?? []);
    await eventually(async () => expect(await tracesOfNodes()).toEqual(before), 60_000);
    const bin = await cluster().node('node-1', ['ls', dirname(LOOPBACK)]);
    expect(bin.stdout).toBe('');
    const path = '{range .items[*]}{.metadata.annotations}{"\\n"}{range .status.conditions[*]}{.type}{"\\n"}{end}{end}';
    const nodes = await kubectl.run('get', 'nodes', '-o', `jsonpath=${path}`);
    expect(nodes).not.toContain('k8s.ovn.org');
    expect(nodes).not.toContain('NetworkUnavailable');
    if (isWriting) await writeFile(PAGE, withOutputs(page, reader.outputs));
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
