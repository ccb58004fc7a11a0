/**
 * Pods that a real kubelet, containerd and crun run, most of them made by Deployments: their networks, their probes, who
 * reaches them, restarts, and what is left of them. On this machine's kernel. Needs root and `make build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cidrContainsIp, parseCidr } from '../../net/cidr.ts';
import { FAMILIES } from '../../net/ip.ts';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { openSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { KERNEL_SETTINGS } from '../../sandbox/real-kubelet/configuration.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { hostIsolation } from '../oracles/hosts/suite.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureCluster, readPods } from '../oracles/reachability/measure.ts';
import type { ReachabilityPod } from '../oracles/reachability/types.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { hostNetworkPod, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { restartsOf } from './support/cluster/restarts.ts';
import { networkStatesOn } from './support/cluster/udnctl.ts';
import { ATTACHED_PLUGINS, attachedPods } from './support/kubelet/attached-pods.ts';
import { deployment, PROBED_PORTS, UNREADY_FILE } from './support/kubelet/deployments.ts';
import { podTraces } from './support/kubelet/pod-traces.ts';
import { addressOfFamily } from './support/packets/packets.ts';

const NODES = ['node-1', 'node-2'] as const;
const [NODE] = NODES;
const TENANTS = ['red', 'blue'] as const;
const SUBNETS = ['10.84.0.0/16', 'fd00:84::/48'] as const;
/** Of pods without requests, with the driver cgroupfs. */
const BEST_EFFORT = '/sys/fs/cgroup/kubepods/besteffort';
const DEPLOYED = { timeoutSeconds: 60 };
const cluster = useCluster({
  ...{ name: 'test-kubelet-real', api: 'kube', kubelet: 'real', timeoutSeconds: 90 },
  cniPlugins: [...ATTACHED_PLUGINS],
  // What is there before pods is what has to be left of them.
  settings: { UDN_NETWORK_RENDERING: 'always', UDN_FOREIGN_PLUGINS: ATTACHED_PLUGINS.join(',') },
});
let before: readonly (readonly string[])[];

/** Those that kubelets set, of no namespace: this machine's own. */
const kernelSettings = (): Record<string, string> =>
  Object.fromEntries(Object.keys(KERNEL_SETTINGS).map((path) => [path, readFileSync(`/proc/sys/${path}`, 'utf8')]));
const settingsBefore = kernelSettings();

beforeAll(async () => {
  const subnets = [`${SUBNETS[0]}/24`, `${SUBNETS[1]}/64`];
  await applyAndWait(
    cluster(),
    TENANTS.flatMap((tenant) => [namespace(tenant), layer3(tenant, 'net', subnets)]),
  );
  await eventually(networksReady);
  before = await tracesOfNodes();
  const objects = await cluster().objects();
  await objects.apply(TENANTS.map((tenant) => deployment(tenant, 'web', NODES.length)));
  for (const tenant of TENANTS) await objects.wait('deployment', `${tenant}/web`, 'condition=Available', DEPLOYED);
});

/** Of every tenant, on every node. */
const networksReady = async (): Promise<void> => {
  for (const node of NODES) {
    expect(await networkStatesOn(cluster(), node)).toEqual(['blue_net ready', 'default ready', 'red_net ready']);
  }
};

const tracesOfNodes = () => Promise.all(NODES.map((node) => podTraces(cluster(), node)));

const deployed = async (tenant: string): Promise<readonly ReachabilityPod[]> => {
  const pods = await readPods(await cluster().objects());
  return pods.filter(({ key }) => key.startsWith(`${tenant}/web-`));
};

const deployedOn = async (tenant: string, node: string): Promise<ReachabilityPod> => {
  const found = (await deployed(tenant)).find((one) => one.node === node);
  if (found === undefined) throw new Error(`${tenant} has no pod on ${node}`);
  return found;
};

const podStatus = z.object({
  containerStatuses: z.array(z.object({ restartCount: z.number(), containerID: z.string() })),
});

/** Containers of the Deployments: they stay what they are, whatever is started again around them. */
const containers = async (): Promise<readonly string[]> => {
  const objects = await cluster().objects();
  const pods = (await Promise.all(TENANTS.map((tenant) => objects.list('pods', tenant)))).flat();
  return pods
    .filter(({ metadata }) => metadata.name?.startsWith('web-'))
    .flatMap(({ status }) => podStatus.parse(status).containerStatuses)
    .map(({ containerID, restartCount }) => `${containerID} ${restartCount}`)
    .sort();
};

describe('pods that a Deployment makes in the namespace of a tenant', () => {
  it.each(TENANTS)('have addresses of its network, one on each node: %s', async (tenant) => {
    const pods = await deployed(tenant);
    expect(pods.map(({ node }) => node).sort()).toEqual(NODES);
    for (const { key, attachments } of pods) {
      const addresses = attachments.find(({ network }) => network === `${tenant}_net`)?.addresses ?? [];
      const { stdout } = await cluster().exec(key, ['ip', '-brief', 'address', 'show', 'ovn-udn1']);
      for (const subnet of SUBNETS) {
        const own = addresses.filter((ip) => cidrContainsIp(parseCidr(subnet), ip));
        expect(own).toHaveLength(1);
        expect(stdout).toContain(` ${own[0]}/`);
      }
    }
  });

  it('are in cgroups that the kubelet made for them', async () => {
    const objects = await cluster().objects();
    const { key, node } = await deployedOn('red', NODE);
    const { metadata } = await objects.get('pod', key);
    const { stdout } = await cluster().node(node, ['sh', '-c', `cat ${BEST_EFFORT}/pod${metadata.uid}/*/cgroup.procs`]);
    // Of what holds its namespaces, and of two containers.
    expect(stdout.trim().split('\n')).toHaveLength(3);
  });

  it('reach those of their tenant on both nodes, over both families, and nobody else', async () => {
    expect(describeDifferences(await measureCluster(cluster()))).toEqual([]);
  });

  it('are ready by probes over TCP, HTTP, gRPC and by a command, and not when one fails', async () => {
    await probesWork(await deployedOn('red', NODE));
  });

  it('show their logs, and run commands, to whoever asks the API server', async () => {
    const { key } = await deployedOn('red', 'node-2');
    const [inNamespace = '', name = ''] = key.split('/');
    const of = ['--namespace', inNamespace, name, '--container', 'main'];
    expect((await cluster().node(NODE, ['kubectl', 'logs', ...of])).stdout).toBe('serving\n');
    expect((await cluster().node(NODE, ['kubectl', 'exec', ...of, '--', 'hostname'])).stdout).toBe(`${name}\n`);
  });
});

/** One by a command decides of its readiness here, and answers to others are seen as they leave the pod. */
const probesWork = async ({ key }: ReachabilityPod): Promise<void> => {
  const objects = await cluster().objects();
  await cluster().exec(key, ['touch', UNREADY_FILE]);
  await objects.wait('pod', key, 'condition=Ready=False', DEPLOYED);
  await cluster().exec(key, ['rm', UNREADY_FILE]);
  await objects.wait('pod', key, 'ready', DEPLOYED);
  await Promise.all(
    PROBED_PORTS.map(async (port) => {
      const answers = `src port ${port} and tcp[tcpflags] & tcp-push != 0`;
      await cluster().exec(key, ['tcpdump', '-nn', '-i', 'eth0', '-c', '1', answers]);
    }),
  );
};

describe('who reaches them from the host', () => {
  beforeAll(() =>
    applyAndWait(cluster(), [
      plainNamespace('plain'),
      pod('red', 'victim', NODE),
      pod('plain', 'a', NODE),
      pod('plain', 'b', 'node-2'),
      hostNetworkPod('red', NODE),
      hostNetworkPod('plain', NODE),
    ]),
  );

  hostIsolation(cluster, {
    victim: 'red/victim',
    plain: ['plain/a', 'plain/b'],
    hostPods: ['red/host', 'plain/host'],
  });
});

attachedPods(cluster, NODES);

const PINGS = { count: 200, intervalSeconds: 0.02 };

/** From a tenant's pod to the one on the other node. @returns how many were lost of each family */
const lostWhile = async (tenant: string, work: () => Promise<void>): Promise<readonly number[]> => {
  const [from, to] = await Promise.all(NODES.map((node) => deployedOn(tenant, node)));
  if (from === undefined || to === undefined) throw new Error(`${tenant} has no pods`);
  const pings = FAMILIES.map(async (family) => {
    const { count, intervalSeconds } = PINGS;
    const options = ['-q', '-i', String(intervalSeconds), '-c', String(count), '-W', '1'];
    const { stdout } = await cluster().exec(from.key, ['ping', ...options, addressOfFamily(to, family)]);
    return count - Number(/(\d+) received/.exec(stdout)?.[1]);
  });
  await work();
  return await Promise.all(pings);
};

const cgroupOfKubelet = async (): Promise<string> =>
  (
    await cluster().node(NODE, ['stat', '--format', '%i', '/sys/fs/cgroup/kubelet.slice/kubelet.service'])
  ).stdout.trim();

const isolationKnowsNewCgroup = async (before: string): Promise<void> => {
  const now = await cgroupOfKubelet();
  expect(now).not.toBe(before);
  await eventually(async () => {
    const { stdout } = await cluster().node(NODE, ['nft', 'list', 'chain', 'inet', 'ovn-udn', 'udn-isolation-kubelet']);
    expect(stdout).toContain(`"kubelet.slice/kubelet.service" accept`);
    expect(stdout).toContain(`comment "cgroup ${now}"`);
  });
};

describe('started again, killed before', () => {
  it.each(['kubelet', 'containerd', 'agent'] as const)(
    '%s: pods go on, their probes too, and new ones come',
    async (program) => {
      const [was, cgroup, count] = await Promise.all([
        containers(),
        cgroupOfKubelet(),
        restartsOf(cluster(), NODE, program),
      ]);
      const lost = await lostWhile('red', async () => {
        await cluster().kill(NODE, program, 'SIGKILL');
        await eventually(async () => expect(await restartsOf(cluster(), NODE, program)).toBe(count + 1));
      });
      expect(lost).toEqual([0, 0]);
      if (program === 'kubelet') await isolationKnowsNewCgroup(cgroup);
      await applyAndWait(cluster(), [pod('red', `after-${program}`, NODE)]);
      await probesWork(await deployedOn('red', NODE));
      expect(await containers()).toEqual(was);
    },
  );

  it('and everybody reaches whom they reached', async () => {
    expect(describeDifferences(await measureCluster(cluster()))).toEqual([]);
  });
});

describe('in the end', () => {
  it('this machine has the settings of its kernel that it had', () => {
    expect(kernelSettings()).toEqual(settingsBefore);
  });

  it('nothing is left of pods on any node', async () => {
    const objects = await cluster().objects();
    const gone = [...TENANTS.map((tenant) => deployment(tenant, 'web', 0)), plainNamespace('plain')];
    const pods = ['victim', 'host', 'after-kubelet', 'after-containerd', 'after-agent'];
    await objects.delete([...gone, ...pods.map((name) => pod('red', name, NODE))], DEPLOYED);
    await eventually(async () => expect(await tracesOfNodes()).toEqual(before), 60_000);
  });
});

it('nothing is left of a cluster whose owner is killed', async () => {
  const name = 'test-kubelet-real-killed';
  const { node, dist } = findArtifacts();
  const options = JSON.stringify({ name, nodes: 1, kubelet: 'real', programs: 'kubelet' });
  const owner = spawn(node, [join(dist, 'sandbox.mjs'), 'supervise', options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(owner, 'exit');
  let namespaces: Awaited<ReturnType<typeof namespacesOf>>;
  try {
    for await (const line of createInterface(owner.stdout)) {
      expect(line).not.toContain('"failed"');
      if (line.includes('"kind":"up"')) break;
    }
    await applyAndWait(openSandbox(name), [hostNetworkPod('default', NODE)]);
    namespaces = await namespacesOf(name);
    expect(namespaces.containers.size).toBe(2);
  } finally {
    // Also of a test that fails here: nobody else would end it.
    owner.kill('SIGKILL');
    await ended;
  }
  await untilNothingIsLeft(name, namespaces, 10_000);
});
