/**
 * The life of a node with a real kubelet: it is rebooted, it is drained, its Node is deleted, and it joins again as a new one. There it ends: the token of the
 * sandbox's agent is bound to the Node that was deleted, where in a cluster the DaemonSet makes a new pod. Two minutes, so it is of
 * `make test-all`. Needs root and `make build`.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NODES as NODE_RESOURCE } from '../../kube/resources.ts';
import { FAMILIES } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../oracles/reachability/measure.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { pod } from './support/cluster/manifests.ts';
import { TENANTS, tenantManifests } from './support/cluster/one-of-each.ts';
import { HAS_ALL_SCENARIOS } from './support/cluster/sample.ts';
import { udnctl } from './support/cluster/udnctl.ts';
import { note } from './support/faults/survive.ts';
import { deployment } from './support/kubelet/deployments.ts';
import { addressOfFamily } from './support/packets/packets.ts';
import { pingWhile } from './support/packets/pings.ts';
import { ownRowsNaming } from './support/state/rows.ts';

const STAYING = ['node-1', 'node-2'] as const;
const LEAVING = 'node-3';
const cluster = useCluster({ name: 'test-node-life', api: 'kube', kubelet: 'real', nodes: 3 });
const DEPLOYED = { timeoutSeconds: 60 };
let kubectl: Kubectl;

beforeAll(async () => {
  const { kubeconfig = '' } = await cluster().status();
  kubectl = await createKubectl(await readFile(kubeconfig, 'utf8'), 90_000);
  await applyAndWait(cluster(), [
    ...tenantManifests(),
    ...TENANTS.flatMap((tenant) => STAYING.map((node) => pod(tenant, `${tenant}-${node}`, node))),
  ]);
  // The scheduler has no other node for them.
  for (const node of STAYING) await kubectl.run('cordon', node);
  const objects = await cluster().objects();
  await objects.apply(TENANTS.map((tenant) => deployment(tenant, 'web', 1)));
  for (const tenant of TENANTS) await objects.wait('deployment', `${tenant}/web`, 'condition=Available', DEPLOYED);
  for (const node of STAYING) await kubectl.run('uncordon', node);
}, 180_000);
afterAll(() => kubectl?.close());

const web = async (tenant: string) =>
  (await readPods(await cluster().objects())).filter(({ key }) => key.startsWith(`${tenant}/web-`));

/** Those of the Deployments, which are ready, by their names. */
const podsOf = async (node: string): Promise<readonly LivingPod[]> => {
  const pods = await (await cluster().objects()).list('pods');
  return pods
    .flatMap(({ metadata, spec, status }): LivingPod[] => {
      const { nodeName } = nodeSchema.parse(spec);
      const { podIPs, conditions, containerStatuses } = statusSchema.parse(status);
      if (nodeName !== node || !conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return [];
      return [
        {
          key: `${metadata.namespace}/${metadata.name}`,
          uid: `${metadata.uid}`,
          networks: metadata.annotations?.['k8s.ovn.org/pod-networks'],
          addresses: podIPs.map(({ ip }) => ip),
          restarts: Math.min(...containerStatuses.map(({ restartCount }) => restartCount)),
        },
      ];
    })
    .toSorted((a, b) => a.key.localeCompare(b.key));
};

interface LivingPod {
  readonly key: string;
  readonly uid: string;
  readonly networks: string | undefined;
  readonly addresses: readonly string[];
  readonly restarts: number;
}

const nodeSchema = z.object({ nodeName: z.string().optional() });
const statusSchema = z.object({
  podIPs: z.array(z.object({ ip: z.string() })).default([]),
  conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
  containerStatuses: z.array(z.object({ restartCount: z.int() })).default([]),
});

const reachedAsExpected = async (): Promise<void> => {
  const pods = await readPods(await cluster().objects());
  expect(describeDifferences(await measureReachability(cluster(), pods))).toEqual([]);
};

/** Between two pods on nodes that stay. @returns how many packets were lost */
const lostWhile = async (title: string, work: () => Promise<void>): Promise<number> => {
  const to = await readPod(cluster(), 'red/red-node-2');
  const addresses = FAMILIES.map((family) => addressOfFamily(to, family));
  const losses = await pingWhile(cluster(), { from: 'red/red-node-1', to: addresses }, work);
  for (const { address, sent, lost } of losses) note(`${title}: ${lost} of ${sent} to ${address} lost`);
  return losses.reduce((total, { lost }) => total + lost, 0);
};

/** Of another node, in the databases of one. */
const traces = async (node: string, of: string): Promise<readonly string[]> => {
  const southbound = await cluster().node(node, ['ovn-sbctl', '--bare', '--columns=hostname', 'list', 'Chassis']);
  const tunnels = await cluster().node(node, ['ovs-vsctl', '--bare', '--columns=options', 'list', 'Interface']);
  const { nodes } = await cluster().status();
  const addresses = nodes.find(({ name }) => name === of)?.addresses.map((address) => address.split('/')[0]) ?? [];
  return [
    ...(await ownRowsNaming(cluster(), node, of)),
    ...southbound.stdout.split('\n').filter((name) => name === of),
    ...tunnels.stdout.split('\n').filter((line) => addresses.some((address) => line.includes(`remote_ip=${address}`))),
  ];
};

/** What the cluster manager has given it. */
const given = async (node: string): Promise<Readonly<Record<string, string>>> => {
  const { metadata } = await (await cluster().client()).get(NODE_RESOURCE, { name: node });
  return Object.fromEntries(
    ['node-id', 'node-subnets'].map((name) => [name, metadata.annotations?.[`k8s.ovn.org/${name}`] ?? '']),
  );
};

describe.skipIf(!HAS_ALL_SCENARIOS)('a node that is rebooted', () => {
  it('has its pods again, with their addresses, ids and subnets, and others lose nothing', async () => {
    const [before, pods] = await Promise.all([given(LEAVING), podsOf(LEAVING)]);
    expect(pods).toHaveLength(TENANTS.length);
    await eventually(reachedAsExpected, 60_000);
    const start = performance.now();
    const lost = await lostWhile('reboot', async () => {
      await cluster().reboot(LEAVING);
      // The kubelet's conditions are those from before until it reports again.
      await eventually(async () => {
        const now = await podsOf(LEAVING);
        expect(now.map(({ restarts: _, ...pod }) => pod)).toEqual(pods.map(({ restarts: _, ...pod }) => pod));
        for (const { restarts } of now) expect(restarts).toBeGreaterThan(0);
      }, 120_000);
    });
    note(`ready again after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    expect(lost).toBe(0);
    await eventually(reachedAsExpected, 60_000);
    expect(await given(LEAVING)).toEqual(before);
    await (await cluster().objects()).wait('node', LEAVING, 'condition=NetworkUnavailable=False', DEPLOYED);
  });

  it('reports no problem, and takes new pods', async () => {
    for (const node of [...STAYING, LEAVING]) {
      await eventually(async () => {
        const { stdout } = await udnctl(cluster(), node, 'problems');
        expect(stdout).not.toMatch(/^(error|warning)\b/m);
      }, 60_000);
    }
    const later = TENANTS.map((tenant) => pod(tenant, `${tenant}-later`, LEAVING));
    await applyAndWait(cluster(), later);
    await eventually(reachedAsExpected, 60_000);
    await deletePods(cluster(), ...later.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  });
});

describe.skipIf(!HAS_ALL_SCENARIOS)('a node that is drained', () => {
  it('has the pods of the Deployments, one of each network', async () => {
    for (const tenant of TENANTS) expect((await web(tenant)).map(({ node }) => node)).toEqual([LEAVING]);
    await eventually(reachedAsExpected, 60_000);
  });

  it('loses them to others, where they are reached, and no packet of others', async () => {
    const start = performance.now();
    const lost = await lostWhile('drain', async () => {
      const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=60s'];
      await kubectl.run('drain', LEAVING, ...flags);
      const objects = await cluster().objects();
      for (const tenant of TENANTS) await objects.wait('deployment', `${tenant}/web`, 'condition=Available', DEPLOYED);
    });
    note(`drained, and available elsewhere, after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    expect(lost).toBe(0);
    for (const tenant of TENANTS) {
      const pods = await web(tenant);
      expect(pods.map(({ node }) => node)).not.toContain(LEAVING);
      expect(pods).toHaveLength(1);
    }
    await eventually(reachedAsExpected, 60_000);
  });
});

describe.skipIf(!HAS_ALL_SCENARIOS)('a Node that is deleted', () => {
  let before: Readonly<Record<string, string>>;
  let others: readonly Readonly<Record<string, string>>[];
  beforeAll(async () => {
    before = await given(LEAVING);
    others = await Promise.all(STAYING.map(given));
    expect(before['node-subnets']).toContain('red_net');
  });

  it('is gone from the databases and tunnels of others, whose packets go on', async () => {
    for (const node of STAYING) expect(await traces(node, LEAVING)).not.toEqual([]);
    const lost = await lostWhile('delete', async () => {
      await kubectl.run('delete', 'node', LEAVING);
      for (const node of STAYING) await eventually(async () => expect(await traces(node, LEAVING)).toEqual([]), 60_000);
    });
    expect(lost).toBe(0);
  });

  it('is not waited for by networks, and new ones become ready', async () => {
    const objects = await cluster().objects();
    for (const tenant of ['red', 'green']) {
      await objects.wait('udn', `${tenant}/net`, 'condition=NetworkCreated', { timeoutSeconds: 30 });
    }
    for (const node of STAYING) {
      await eventually(async () => {
        const { stdout } = await udnctl(cluster(), node, 'problems');
        expect(stdout).not.toMatch(/^error\b/m);
      }, 60_000);
    }
  });

  it('joins again as another Node, when its kubelet starts, and gets what it had released', async () => {
    const start = performance.now();
    const lost = await lostWhile('join', async () => {
      await cluster().kill(LEAVING, 'kubelet', 'SIGKILL');
      await (await cluster().objects()).wait('node', LEAVING, 'condition=Ready', { timeoutSeconds: 90 });
    });
    note(`ready again after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    expect(lost).toBe(0);
    await eventually(async () => expect(await given(LEAVING)).toEqual(before), 30_000);
    expect(await Promise.all(STAYING.map(given))).toEqual(others);
  });
});
