import { expect, it } from 'vitest';
import { why } from './subject.ts';
import { DEFAULT_ENTRY, entry, scene, settledPod, warning } from './testing/objects.ts';
import { POD, web, well } from './testing/settled.ts';

const PULL = { name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } };
const REFUSED = 'port web was not installed in time';
const NETWORKS = { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.4/16') };

/** Of a pod that has its addresses and is not Ready. @param since its sandbox has a network */
const ask = ({ since, containers = [] }: { since?: string; containers?: readonly object[] }, ...events: unknown[]) => {
  const ready = { type: 'PodReadyToStartContainers', status: since === undefined ? 'False' : 'True' };
  const conditions = [{ ...ready, lastTransitionTime: since ?? '2026-05-31T22:00:00Z' }];
  const pod = settledPod('red/web', NETWORKS, {}, { conditions, containerStatuses: containers });
  return why(POD, scene([...well.filter((one) => one !== web), pod, ...events]));
};

const FOUND = 'pod red/web is not ready: it has all its addresses; the kubelet of node n1 does not report it Ready';

it('is the last CNI ADD that failed, before what else the kubelet warns of', () => {
  const failed = warning('Pod/red/web', REFUSED, 'ErrorAttachingPod');
  const { summary } = ask({}, warning('Pod/red/web', 'no volume', 'FailedMount'), failed);
  expect(summary).toBe(`${FOUND}: ${REFUSED}`);
});

it('has a message once that a kubelet also gives in the status of a container', () => {
  const waits = (message: string) => ({ name: 'c', state: { waiting: { reason: 'ContainerCreating', message } } });
  const event = warning('Pod/red/web', `Failed to create pod sandbox: ${REFUSED}: too late`, 'FailedCreatePodSandBox');
  const of = (message: string) => ask({ containers: [waits(message)] }, event).summary;
  const rest = `Failed to create pod sandbox: ${REFUSED}: too late`;
  expect(of(`${REFUSED}: too late`)).toBe(`${FOUND}: c: ContainerCreating; ${rest}`);
  expect(of('no volume')).toBe(`${FOUND}: c: ContainerCreating: no volume; ${rest}`);
});

it('is no CNI ADD of before the one that succeeded', () => {
  const failed = warning('Pod/red/web', REFUSED, 'ErrorAttachingPod');
  const { summary } = ask({ since: '2026-05-31T23:59:30Z', containers: [PULL] }, failed);
  expect(summary).toBe(`${FOUND}: c: ImagePullBackOff`);
});

it('is a CNI ADD of after it: the sandbox is being recreated', () => {
  const failed = warning('Pod/red/web', REFUSED, 'ErrorAttachingPod');
  expect(ask({ since: '2026-05-31T23:58:00Z' }, failed).summary).toBe(`${FOUND}: ${REFUSED}`);
});

it('is to be had from the agent where no event says it', () => {
  expect(ask({})).toMatchObject({ summary: FOUND, next: 'udnctl explain pod red/web' });
});

it('is no event about network-status, which is told apart while the pod has none', () => {
  const message = 'k8s.v1.cni.cncf.io/network-status cannot be written: denied by a webhook';
  const denied = warning('Pod/red/web', message, 'ErrorUpdatingResource');
  const found = (metadata: Readonly<Record<string, unknown>>) => {
    const pod = settledPod('red/web', NETWORKS, metadata);
    const { isReady, findings } = why(POD, scene([...well.filter((one) => one !== web), pod, denied]));
    return [isReady, findings.filter(({ what }) => what === 'network-status').map((one) => one.found)];
  };
  expect(found({})).toEqual([true, [message]]);
  const annotations = {
    'k8s.ovn.org/pod-networks': JSON.stringify(NETWORKS),
    'k8s.v1.cni.cncf.io/network-status': '[]',
  };
  expect(found({ annotations })).toEqual([true, []]);
});
