/** Calls about one pod at the same time, by hand, while its kubelet is held. Needs root and `make build`. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { PODS } from '../../kube/resources.ts';
import type { Objects, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from './support/cluster/manifests.ts';
import { untilNothingLeaks } from './support/faults/leaks.ts';
import { createRandom } from './support/faults/random.ts';
import { callShim, podArguments, type ShimAnswer } from './support/faults/shim.ts';
import { plantForeign, readForeign } from './support/state/foreign.ts';
import { idsOf, isOurs, readNodeState, rowsOf } from './support/state/node-state.ts';

const NODE = 'node-1';
const ROUNDS = 5;

let sandbox: Sandbox;
let objects: Objects;
let foreign: unknown;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-concurrent', nodes: 1 });
  objects = await sandbox.objects();
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    pod('red', 'red-peer', NODE),
    pod('green', 'green-peer', NODE),
  ]);
  await Promise.all(['red/red-peer', 'green/green-peer'].map((key) => objects.wait('pod', key, 'ready')));
  await plantForeign(sandbox, NODE, `red_net_${NODE}`);
  foreign = await readForeign(sandbox, NODE);
  await sandbox.kill(NODE, 'kubelet', 'SIGSTOP');
});
afterAll(() => sandbox?.down());

/** A pod sandbox as a container runtime makes one. */
interface PodSlot {
  readonly containerId: string;
  readonly netns: string;
}

const makePodSlot = async (): Promise<PodSlot> => {
  const containerId = randomBytes(32).toString('hex');
  await sandbox.node(NODE, ['ip', 'netns', 'add', `by-hand-${containerId}`]);
  return { containerId, netns: `/run/netns/by-hand-${containerId}` };
};

const removePodSlot = async ({ netns }: PodSlot): Promise<void> => {
  await sandbox.node(NODE, ['ip', 'netns', 'delete', netns.split('/').at(-1) ?? '']);
};

interface Subject {
  readonly inNamespace: string;
  readonly name: string;
  readonly args: string;
}

const makePod = async (inNamespace: string): Promise<Subject> => {
  const name = `${inNamespace}-${randomBytes(3).toString('hex')}`;
  await objects.apply([pod(inNamespace, name, NODE)]);
  const { metadata } = await objects.get('pod', `${inNamespace}/${name}`);
  return { inNamespace, name, args: podArguments(inNamespace, name, metadata.uid) };
};

/** At once: the kubelet, who would take its time, is held. */
const removePod = async ({ inNamespace, name }: Subject): Promise<void> => {
  await (await sandbox.client()).delete(PODS, { namespace: inNamespace, name }, { gracePeriodSeconds: 0 });
};

const call = (command: string, { args }: Subject, podSlot: PodSlot): Promise<ShimAnswer> =>
  callShim(sandbox, NODE, { command, args, ...podSlot });

/** The containers that have ports and links of the pod, each with how many. */
const holdersOf = async ({ inNamespace, name }: Subject): Promise<Record<string, { ports: number; links: number }>> => {
  const { openvswitch, links } = await readNodeState(sandbox, NODE);
  const ports = rowsOf(openvswitch, 'Interface')
    .filter((row) => isOurs(row) && idsOf(row)['iface-id']?.endsWith(`${inNamespace}_${name}`) === true)
    .map((row) => ({ container: idsOf(row)['sandbox'] ?? '', name: String(row['name']) }));
  const holders = Map.groupBy(ports, ({ container }) => container);
  return Object.fromEntries(
    [...holders].map(([container, own]) => [
      container,
      { ports: own.length, links: links.filter((link) => own.some((port) => port.name === link.name)).length },
    ]),
  );
};

/** IPv4 and IPv6, on the pod's primary network. */
const pingsPeer = async ({ inNamespace }: Subject, { netns }: PodSlot): Promise<void> => {
  const { metadata } = await objects.get('pod', `${inNamespace}/${inNamespace}-peer`);
  const networks = JSON.parse(metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '{}');
  const name = netns.split('/').at(-1) ?? '';
  for (const address of networks[`${inNamespace}/net`].ip_addresses as string[]) {
    const ping = ['ping', '-c3', '-i0.1', '-W1', address.split('/')[0] ?? ''];
    await sandbox.node(NODE, ['ip', 'netns', 'exec', name, ...ping]);
  }
};

/** From then on the agent is at the ADD. */
const untilLinkOf = ({ containerId }: PodSlot): Promise<unknown> =>
  eventually(() => sandbox.node(NODE, ['ip', 'link', 'show', 'dev', containerId.slice(0, 15)]));

const later = async <T>(milliseconds: number, work: () => Promise<T>): Promise<T> => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return await work();
};

describe.each(['red', 'green'])('of a pod in %s, two ADDs and a DEL', (inNamespace) => {
  const random = createRandom();

  it('of the older sandbox: the newer one works, and nothing is left of the older one', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const subject = await makePod(inNamespace);
      const [older, newer] = [await makePodSlot(), await makePodSlot()];
      const delays = [random.next() * 50, random.next() * 50] as const;
      const context = `UDN_SEED=${random.seed}, round ${round}: ${delays.join(', ')} ms`;
      const answer = call('ADD', subject, older);
      await untilLinkOf(older);
      const [first, second, del] = await Promise.all([
        answer,
        later(delays[0], () => call('ADD', subject, newer)),
        later(delays[1], () => call('DEL', subject, older)),
      ]);
      expect([0, 102], `${context}: ${JSON.stringify(first.body)}`).toContain(first.body.code ?? 0);
      expect(del.status, context).toBe(0);
      expect(second.status, `${context}: ${JSON.stringify(second.body)}`).toBe(0);
      expect(await holdersOf(subject), context).toEqual({ [newer.containerId]: { ports: 2, links: 2 } });
      await pingsPeer(subject, newer);
      await removePod(subject);
      expect((await call('DEL', subject, newer)).status).toBe(0);
      await Promise.all([older, newer].map(removePodSlot));
    }
    await untilNothingLeaks(sandbox);
  });

  it('all at once and in any order: when the runtime has tried again, one works and nothing else is there', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const subject = await makePod(inNamespace);
      const [one, other] = [await makePodSlot(), await makePodSlot()];
      const calls: (() => Promise<ShimAnswer>)[] = [
        () => call('ADD', subject, one),
        () => call('ADD', subject, other),
        () => call('DEL', subject, one),
      ];
      const answers = await Promise.all(calls.map((start) => later(random.next() * 30, start)));
      expect(answers[2]?.status).toBe(0);
      for (const { body } of answers) expect([0, 11, 102], JSON.stringify(body)).toContain(body.code ?? 0);
      // As a kubelet does with a sandbox that it does not know to be ready: away with it, and the other one again.
      expect((await call('DEL', subject, one)).status).toBe(0);
      const again = await call('ADD', subject, other);
      expect(again.status, JSON.stringify(again.body)).toBe(0);
      expect(await holdersOf(subject)).toEqual({ [other.containerId]: { ports: 2, links: 2 } });
      await pingsPeer(subject, other);
      await Promise.all([call('DEL', subject, other), call('DEL', subject, other), removePod(subject)]);
      expect(await holdersOf(subject)).toEqual({});
      await Promise.all([one, other].map(removePodSlot));
    }
    await untilNothingLeaks(sandbox);
  });

  it('of one sandbox, the same one: either all of it is there or nothing', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const subject = await makePod(inNamespace);
      const podSlot = await makePodSlot();
      const answers = await Promise.all(
        ['ADD', 'ADD', 'DEL'].map((command) => later(random.next() * 60, () => call(command, subject, podSlot))),
      );
      expect(answers[2]?.status).toBe(0);
      const holders = await holdersOf(subject);
      if (Object.keys(holders).length > 0) expect(holders).toEqual({ [podSlot.containerId]: { ports: 2, links: 2 } });
      expect((await call('DEL', subject, podSlot)).status).toBe(0);
      expect(await holdersOf(subject)).toEqual({});
      await removePod(subject);
      await removePodSlot(podSlot);
    }
    await untilNothingLeaks(sandbox);
  });
});

it('DEL of a sandbox whose name is that of somebody else’s port or link leaves both alone', async () => {
  for (const containerId of ['foreign0', 'foreign1']) {
    const answer = await callShim(sandbox, NODE, {
      command: 'DEL',
      containerId,
      args: podArguments('red', 'nobody'),
    });
    expect(answer.status).toBe(0);
  }
  await eventually(async () => expect(await readForeign(sandbox, NODE)).toEqual(foreign));
});

it('and GC that keeps nothing but what the kubelet has leaves what others made', async () => {
  const { sandboxes } = await readNodeState(sandbox, NODE);
  const valid = sandboxes.map(({ id }) => ({ containerID: id, ifname: 'eth0' }));
  const stdin = JSON.stringify({ cniVersion: '1.1.0', name: 'ovn-kubernetes', 'cni.dev/valid-attachments': valid });
  expect((await callShim(sandbox, NODE, { command: 'GC', stdin })).status).toBe(0);
  expect(await readForeign(sandbox, NODE)).toEqual(foreign);
  await untilNothingLeaks(sandbox);
});
