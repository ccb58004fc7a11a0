/** Agents write what their pods are attached to: with their own credentials, into the very pod, and put it right again. */
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { AttachmentRegistry } from '../../../agent/cni/attachments/registry.ts';
import { StatusKeeper } from '../../../agent/cni/attachments/status-keeper.ts';
import { plumbingOf } from '../../../agent/cni/plumbing.ts';
import { projectPodParts, samePodParts } from '../../../agent/inputs/pod-parts.ts';
import { TestCluster } from '../../../agent/testing/cluster.ts';
import { FakePorts } from '../../../agent/testing/fake-ports.ts';
import { parseAttachedNetworks } from '../../../api/annotations/attached-networks.ts';
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { systemClock } from '../../../base/clock.ts';
import { partOf } from '../../../kube/reflector/part-of.ts';
import { createReflector } from '../../../kube/reflector/reflector.ts';
import { PODS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import { createWriter } from '../../../kube/writer/writer.ts';
import { eventually } from '../../conformance/kube/harness.ts';
import { type AdmissionCluster, annotations, byPolicy, PROJECT, pod, podOf } from './cluster.ts';

const NETWORK_STATUS = POD_ANNOTATIONS.networkStatus;
/** Mends come as soon as they are due. */
const HURRIED = {
  ...systemClock,
  schedule: (milliseconds: number, callback: () => void) => systemClock.schedule(Math.min(milliseconds, 100), callback),
  monotonic: () => 50 * systemClock.monotonic(),
};

export const networkStatusCases = (cluster: () => AdmissionCluster): void => {
  let agent: KubeClient;
  let keeper: StatusKeeper;
  const ports = new FakePorts();
  const registry = new AttachmentRegistry();
  const problems: string[] = [];
  let patches = 0;
  let stop = new AbortController();
  let running: Promise<void> | undefined;

  beforeAll(async () => {
    agent = await cluster().account(PROJECT, 'udn-agent', 'node-1');
    await cluster().admin.create(PODS, podOf('plugged', { nodeName: 'node-1' }));
  });

  const startAgent = async (): Promise<void> => {
    stop = new AbortController();
    patches = 0;
    problems.length = 0;
    const pods = createReflector({
      client: agent,
      resource: PODS,
      project: (object, before) => projectPodParts(object, 'node-1', before),
      equal: samePodParts,
    });
    running = pods.run(stop.signal);
    await pods.whenSynced(stop.signal);
    const client: Pick<KubeClient, 'get' | 'patch' | 'create'> = {
      get: (...all) => agent.get(...all),
      create: (...all) => agent.create(...all),
      patch: (...all) => {
        patches += 1;
        return agent.patch(...all);
      },
    };
    keeper = new StatusKeeper({
      ...{ registry, ports, clock: HURRIED, random: () => 0 },
      pods: partOf(pods, (parts) => parts.pod),
      writer: createWriter({ client, fieldManager: 'udn-agent' }),
      recorded: () => Promise.resolve([]),
      onProblem: ({ name }, message) => problems.push(`${name}: ${message}`),
      observe: () => {},
    });
  };
  const stopAgent = async (): Promise<void> => {
    keeper.stop();
    stop.abort();
    await running;
  };
  beforeEach(startAgent);
  afterEach(stopAgent);

  const read = (name: string): Promise<KubeObject> => cluster().admin.get(PODS, { namespace: 'red', name });
  const statusOf = async (name: string): Promise<string | undefined> =>
    (await read(name)).metadata.annotations?.[NETWORK_STATUS];

  /** What CNI has made of a pod. */
  const plug = async (name: string, ip: string) => {
    const { uid } = (await read(name)).metadata;
    const facts = new TestCluster('node-1')
      .node('node-1', { id: 2, subnets: { default: ['10.128.0.0/16'] } })
      .namespace('red')
      .pod(`red/${name}`, { node: 'node-1', uid, networks: { default: { ips: [`${ip}/16`], role: 'primary' } } });
    facts.render();
    const attachments = facts.sinks.attachments.get(`attachments:red/${name}`)!;
    registry.set(name, attachments);
    const sandbox = `${uid.slice(0, 8)}-sandbox`;
    await ports.plug(plumbingOf(attachments, { id: sandbox, netns: '/x' }, { txChecksum: true }).ports);
    return { pod: attachments.pod, sandbox };
  };

  it('once after ADD', async () => {
    const { pod: plugged, sandbox } = await plug('plugged', '10.128.0.7');
    keeper.attached(plugged, sandbox, []);
    const text = await eventually(async () => (await statusOf('plugged')) ?? Promise.reject(new Error('not yet')));
    expect(parseAttachedNetworks(text, 'red/plugged')).toMatchObject([
      { name: 'ovn-kubernetes', interface: 'eth0', ips: ['10.128.0.7'], default: true },
    ]);
    expect([patches, problems]).toEqual([1, []]);
  });

  it('not again at a start, and again when it is changed or taken away', async () => {
    const text = await statusOf('plugged');
    await keeper.adopt();
    expect(patches).toBe(0);
    for (const other of ['[]', null]) {
      await pod('plugged')(cluster().admin, annotations({ [NETWORK_STATUS]: other }));
      await eventually(async () => expect(await statusOf('plugged')).toBe(text));
    }
    expect([patches, problems]).toEqual([2, []]);
  });

  it('at a start where it is wrong', async () => {
    const text = await statusOf('plugged');
    await stopAgent();
    await pod('plugged')(cluster().admin, annotations({ [NETWORK_STATUS]: '[]' }));
    await startAgent();
    const { pod: plugged, sandbox } = await plug('plugged', '10.128.0.7');
    keeper.attached(plugged, sandbox, []);
    await eventually(async () => expect(await statusOf('plugged')).toBe(text));
  });

  it('never into the next pod of the name', async () => {
    const { pod: plugged, sandbox } = await plug('plugged', '10.128.0.8');
    await cluster().admin.delete(PODS, { namespace: 'red', name: 'plugged' }, { gracePeriodSeconds: 0 });
    await cluster().admin.create(PODS, podOf('plugged', { nodeName: 'node-1' }));
    keeper.attached(plugged, sandbox, []);
    await eventually(async () => expect(patches).toBe(1));
    const next = await plug('plugged', '10.128.0.9');
    keeper.attached(next.pod, next.sandbox, []);
    const text = await eventually(async () => (await statusOf('plugged')) ?? Promise.reject(new Error('not yet')));
    expect(text).toContain('10.128.0.9');
    expect(problems).toEqual([]);
  });

  it('not of a pod of another node, which is a problem that is reported', async () => {
    const { pod: other, sandbox } = await plug('other', '10.128.0.10');
    keeper.attached(other, sandbox, []);
    const why = byPolicy('ovn-udn-pods', 'the agent of the node node-1 may not change a pod of the node node-2');
    await eventually(async () => expect(keeper.unwritten().get('red/other')).toContain(why));
    expect(problems[0]).toContain(`other: ${NETWORK_STATUS} cannot be written: `);
    expect(await statusOf('other')).toBeUndefined();
  });
};
