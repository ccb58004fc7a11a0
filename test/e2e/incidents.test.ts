/**
 * What goes wrong in clusters, one after the other: the first line of `udnctl problems`, `why` or `explain` names the root cause within a
 * minute, and is gone when it is mended. docs/operations.md has their output. Daemons that hang are in probes.test.ts.
 * Needs root and `make build`.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { PODS } from '../../kube/resources.ts';
import type { ManifestObject, Objects } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { askAgent } from './support/cluster/agent-metrics.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { type Said, udnctl } from './support/cluster/udnctl.ts';

const NODE = 'node-1';
const UDNCTL = join(import.meta.dirname, '../../bin/udnctl');
/** Within which an operator finds the cause. */
const MINUTE_MS = 60_000;
const cluster = useCluster({ name: 'test-incidents' });
let objects: Objects;

beforeAll(async () => {
  objects = await cluster().objects();
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
    pod('red', 'a', NODE),
    namespace('blue'),
    layer2('blue', 'net', ['10.92.0.0/16', 'fd00:92::/64']),
    pod('blue', 'a', NODE),
  ]);
});

const onNode = async (script: string): Promise<string> => (await cluster().node(NODE, ['sh', '-ec', script])).stdout;

/** What somebody without access to the node asks, by a kubeconfig. */
const asked = async (...args: readonly string[]): Promise<Said> => {
  const { kubeconfig = '' } = await cluster().status();
  return new Promise((resolve) =>
    execFile(UDNCTL, [...args, '--kubeconfig', kubeconfig], (error, stdout, stderr) =>
      resolve({ stdout, stderr, status: Number(error?.code ?? 0) }),
    ),
  );
};

const firstLine = ({ stdout }: Said): string => stdout.split('\n')[0] ?? '';
const problems = (): Promise<Said> => udnctl(cluster(), NODE, 'problems');

/** @param exitStatus 1 for an error, 0 for what is no more than a warning */
const problemBecomes = (line: string | RegExp, exitStatus: 0 | 1): Promise<void> =>
  eventually(async () => {
    const said = await problems();
    expect(firstLine(said)).toMatch(line);
    expect(said.status).toBe(exitStatus);
  }, MINUTE_MS);

const answers = (args: readonly string[], line: string | RegExp): Promise<void> =>
  eventually(async () => expect(firstLine(await asked(...args))).toMatch(line), MINUTE_MS);

const notReady = async (): Promise<string[]> => (await askAgent(cluster(), NODE, '/readyz')).trimEnd().split('\n');

/** No error, and nothing that is not of this kernel or has been repaired. */
const isWell = (): Promise<void> =>
  eventually(async () => {
    const { stdout, status } = await problems();
    expect(stdout.replaceAll(/^info .*\n( .*\n)*/gm, '')).toMatch(/^(no problems\n)?$/);
    expect(status).toBe(0);
  }, MINUTE_MS);

describe('on the node', () => {
  it('the uplink is off the gateway bridge', async () => {
    await onNode('ovs-vsctl del-port br-ex eth0');
    await problemBecomes('uplink eth0 is not on br-ex: no traffic leaves this node  [uplink-off-bridge]', 1);
    expect((await problems()).stdout).toContain('follows from it: port eth0 is not on bridge br-ex yet');
    const message = 'uplink eth0 is not on br-ex: no traffic leaves this node';
    // The Node says it only where the API server is reached by another way: here it is beyond the uplink.
    await eventually(async () => expect(await notReady()).toContain(message), MINUTE_MS);
    await onNode('ovs-vsctl add-port br-ex eth0');
    await isWell();
    await eventually(async () => expect(await notReady()).toEqual(['ok']), MINUTE_MS);
  });

  it('the kubelet is outside of its cgroup', async () => {
    const own = '/sys/fs/cgroup/kubelet.slice/kubelet.service';
    const move = (from: string, to: string): string => `while read pid; do echo $pid > ${to}; done < ${from}`;
    const pids = (await onNode(`cat ${own}/cgroup.procs`)).trim().split('\n');
    await onNode(move(`${own}/cgroup.procs`, '/sys/fs/cgroup/cgroup.procs'));
    await problemBecomes(/^warning {2}no process is in the cgroup of the kubelet, .*\[kubelet-cgroup-missing\]$/, 0);
    await onNode(`rmdir ${own}`);
    await problemBecomes(/^warning {2}the cgroup of the kubelet was not found: .*\[kubelet-cgroup-missing\]$/, 0);
    await onNode(`mkdir ${own}; for pid in ${pids.join(' ')}; do echo $pid > ${own}/cgroup.procs; done`);
    await isWell();
  });

  it('the MTU of the uplink is too small for tunnels', async () => {
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1400');
    await problemBecomes(/^error {4}packets of networks do not fit the tunnels of this node .*\[mtu-too-large\]$/, 1);
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1500');
    await isWell();
    await onNode('ovs-vsctl clear Interface br-ex mtu_request');
  });

  it('somebody flushes nftables, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      await onNode('nft flush ruleset');
      await eventually(async () => expect(await onNode('nft list tables')).toContain('inet ovn-udn'));
    }
    await problemBecomes(/^warning .*\[changed-by-others\]$/, 0);
    expect((await problems()).stdout).toMatch(
      /nftables of this node was found changed and repaired [3-9] times in 5 minutes/,
    );
  });

  describe('conf.db has no disk', () => {
    const folder = '/var/lib/openvswitch';
    const manifest = pod('blue', 'late', NODE);
    beforeAll(async () => {
      await onNode(
        `mkdir /tmp/keep; cp -a ${folder}/. /tmp/keep; mount -t tmpfs -o size=1m none ${folder}; cp -a /tmp/keep/. ${folder}`,
      );
      await restartDatabase();
      await onNode(`dd if=/dev/zero of=${folder}/fill bs=1k 2>/dev/null || true`);
      // What is left of the last page of the file takes a few small transactions.
      await onNode(`i=0; while [ $i -lt 100 ] && ovs-vsctl --no-wait --timeout=5 set Open_vSwitch . external_ids:filler=$i 2>/dev/null
        do i=$((i+1)); done; test $i -lt 100`);
      await objects.apply([manifest]);
    });
    const reason = 'commit: I/O error: /etc/openvswitch/conf.db: write failed (No space left on device)';

    it('problems, explain and why have what the database said', async () => {
      // The database itself, once ovn-controller has tried to write there, and first the pod that shows it.
      const escaped = reason.replaceAll(/[()/]/g, '\\$&');
      await problemBecomes(
        new RegExp(
          `^error {4}(the Open_vSwitch database rejects writes: .*No space left.*\\[database-failed\\]|Pod/blue/late: CNI ADD failed: ${escaped} {2}\\[cni-ovsdb\\])$`,
        ),
        1,
      );
      const explained = await udnctl(cluster(), NODE, 'explain', 'pod', 'blue/late');
      expect(firstLine(explained)).toBe(`pod blue/late: agent: it has no port: CNI ADD failed: ${reason}`);
      await answers(['why', 'pod', 'blue/late'], new RegExp(reason.replaceAll(/[()]/g, '\\$&')));
    });

    it('each call that failed is one line of the log and one of the counter', async () => {
      const log = readFileSync(join((await cluster().status()).folder, 'log', `${NODE}.agent.log`), 'utf8');
      const lines = log
        .split('\n')
        .filter((line) => line.includes('"CNI call failed"'))
        .map((line): Record<string, unknown> => JSON.parse(line));
      expect(lines).toContainEqual(
        expect.objectContaining({ command: 'ADD', pod: 'blue/late', cause: 'ovsdb', reason }),
      );
      const metrics = await onNode('curl -s --unix-socket /run/ovn-udn/agent.sock http://agent/metrics');
      const [, count] = /^udn_agent_cni_failures_total\{command="ADD",cause="ovsdb"\} ([0-9]+)$/m.exec(metrics) ?? [];
      expect(Number(count)).toBeGreaterThanOrEqual(1);
      expect(Number(count)).toBeLessThanOrEqual(lines.length + 1);
    });

    it('with room again the pod starts, and the problem is gone', async () => {
      await onNode(`rm ${folder}/fill`);
      await objects.wait('pod', 'blue/late', 'ready', { timeoutSeconds: 30 });
      await isWellButNftables();
      await deletePods(cluster(), 'blue/late');
    });

    afterAll(async () => {
      await onNode(
        `rm -rf /tmp/keep; mkdir /tmp/keep; cp -a ${folder}/. /tmp/keep; umount -l ${folder}; cp -a /tmp/keep/. ${folder}`,
      );
      await restartDatabase();
      await onNode('ovs-vsctl --no-wait remove Open_vSwitch . external_ids filler');
      await isWellButNftables();
    });
  });
});

/** A server goes on with the file that it has open, until it starts again. */
const restartDatabase = async (): Promise<void> => {
  const pidOf = (): Promise<string> => onNode('cat /run/openvswitch/ovsdb-server.pid');
  const before = await pidOf();
  await cluster().kill(NODE, 'ovsdb-server', 'SIGKILL');
  await eventually(async () => {
    expect(await pidOf()).not.toBe(before);
    await onNode('ovs-vsctl --timeout=2 show');
  }, MINUTE_MS);
};

/** Three flushes are a warning for five minutes. */
const isWellButNftables = (): Promise<void> =>
  eventually(async () => {
    const { stdout, status } = await problems();
    const left = stdout.replaceAll(/^(info .*|warning .*changed-by-others.*)\n( .*\n)*/gm, '');
    expect(left).toMatch(/^(no problems\n)?$/);
    expect(status).toBe(0);
  }, MINUTE_MS);

describe('in the API', () => {
  it('the NAD of a network is deleted while pods use it', async () => {
    const client = await cluster().client();
    await client.delete(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'red', name: 'net' });
    const line =
      /^UserDefinedNetwork red\/net is not ready: NetworkAttachmentDefinition red\/net is being deleted and waits for pods that use it: red\/a$/;
    await answers(['why', 'udn', 'red/net'], line);
    await answers(
      ['why', 'pod', 'red/a'],
      /: NetworkAttachmentDefinition red\/net is being deleted and waits for pods/,
    );
    await deletePods(cluster(), 'red/a');
    await answers(['why', 'udn', 'red/net'], /is ready/);
  });

  it('a network is stuck in its deletion', async () => {
    await applyAndWait(cluster(), [pod('red', 'a', NODE)]);
    const client = await cluster().client();
    await client.delete(USER_DEFINED_NETWORKS, { namespace: 'red', name: 'net' });
    await answers(['why', 'udn', 'red/net'], /^UserDefinedNetwork red\/net is not deleted yet: pods use it: red\/a$/);
    await deletePods(cluster(), 'red/a');
    await answers(['why', 'udn', 'red/net'], /no object has that name/);
  });

  it('a namespace has no label', async () => {
    await objects.apply([plainNamespace('bare'), layer2('bare', 'net', ['10.93.0.0/16'])]);
    await answers(
      ['why', 'udn', 'bare/net'],
      /^UserDefinedNetwork bare\/net is not ready: namespace bare has no label k8s\.ovn\.org\/primary-user-defined-network, which a primary network needs/,
    );
  });

  it('the subnet of a node, or of a network, has no address left', async () => {
    const many = (inNamespace: string): ManifestObject[] =>
      [1, 2, 3, 4, 5, 6].map((index) => pod(inNamespace, `p${index}`, NODE));
    await objects.apply([
      ...[namespace('full'), layer3('full', 'net', ['10.94.0.0/24/29']), ...many('full')],
      ...[namespace('tiny'), layer2('tiny', 'net', ['10.95.0.0/29']), ...many('tiny')],
    ]);
    await problemBecomes(
      /^error {4}(Pod\/full\/p\d: network full_net: subnet 10\.94\.0\.\d+\/29 has no free address left|this node’s part of a subnet has no free address left .*) {2}\[addresses-exhausted\]$/,
      1,
    );
    for (const [inNamespace, subnet] of [
      ['full', '10\\.94\\.0\\.\\d+/29'],
      ['tiny', '10\\.95\\.0\\.0/29'],
    ] as const) {
      await eventually(async () => {
        const waiting = await waitingPods(inNamespace);
        expect(waiting.length).toBeGreaterThan(0);
        for (const name of waiting) {
          expect(firstLine(await asked('why', 'pod', `${inNamespace}/${name}`))).toMatch(
            new RegExp(`^pod ${inNamespace}/${name} is not ready: .*${subnet} has no free address left$`),
          );
        }
      }, MINUTE_MS);
    }
    await deletePods(cluster(), ...['full', 'tiny'].flatMap((name) => [1, 2, 3, 4, 5, 6].map((i) => `${name}/p${i}`)));
    await isWellButNftables();
  });

  it('a pod asks for an address that another one has', async () => {
    const taken = JSON.parse(
      (await objects.get('pod', 'blue/a')).metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '{}',
    );
    const value = JSON.stringify({ 'blue/net': taken['blue/net'] });
    await objects.apply([pod('blue', 'thief', NODE, { [POD_ANNOTATIONS.networks]: value })]);
    await answers(['why', 'pod', 'blue/thief'], /^pod blue\/thief is not ready: .*blue\/a/);
    await (await cluster().client()).delete(PODS, { namespace: 'blue', name: 'thief' });
  });
});

const podsSchema = z.object({ items: z.array(z.object({ name: z.string(), state: z.string() })) });

const waitingPods = async (inNamespace: string): Promise<readonly string[]> => {
  const { stdout } = await asked('pods', '-n', inNamespace, '-o', 'json');
  const { items } = podsSchema.parse(JSON.parse(stdout));
  return items.filter(({ state }) => state === 'waiting').map(({ name }) => name);
};
