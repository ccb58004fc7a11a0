/** Why a pod is not ready, or not gone. Pure. */
import { POD_ANNOTATIONS } from '../../api/names.ts';
import type { EventState } from '../cluster/event-state.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Scene } from './allocations.ts';
import { desiredAttachments } from './attachments.ts';
import { finalizerFindings } from './deletion.ts';
import { blocked, type Diagnosis, diagnosisOf, type Finding, ok, unknown, unreadOf, warning } from './finding.ts';
import { eventsAbout } from './nad-findings.ts';
import { servedFinding } from './node-findings.ts';
import { entryFindings } from './pod-addresses.ts';
import { podEntries } from './pod-entries.ts';

export const whyPod = (pod: PodState, scene: Scene): Diagnosis => {
  const subject = `pod ${pod.key}`;
  if (pod.deletionTimestamp !== undefined) {
    return diagnosisOf(subject, leavingFindings(pod, scene), 'is about to be removed', 'is not deleted yet');
  }
  if (pod.isCompleted)
    return diagnosisOf(subject, [ok('pod', 'has completed')], 'has completed and needs no network', '');
  const findings = podFindings(pod, scene);
  const isAttached = findings.every(({ state }) => state !== 'blocked');
  const containers = isAttached ? [containersFinding(pod, scene)] : [];
  const all = [...findings, ...containers, ...statusFindings(pod, scene)];
  // The kubelet may be content with a pod that is on another network than it should be.
  return diagnosisOf(subject, all, 'is ready', problemOf(pod, scene));
};

/** What runs goes on with what its annotation says, also when what that came from is gone. */
const problemOf = (pod: PodState, scene: Scene): string => {
  if (!pod.isReady) return 'is not ready';
  // What a kubelet has said stands until somebody else finds it silent.
  const isNodeGone = pod.node !== undefined && !scene.nodes.has(pod.node) && unreadOf(scene, 'nodes') === undefined;
  if (isNodeGone) return 'was ready when its node was there';
  const entries = podEntries(pod);
  const isOnNetwork =
    entries instanceof Map && [...entries.values()].some((entry) => 'role' in entry && entry.role === 'primary');
  return isOnNetwork ? 'is ready, but a new pod like it would not be' : 'is not attached to its networks';
};

/** Only of its networks: whether it has all its addresses. */
export const podFindings = (pod: PodState, scene: Scene): readonly Finding[] => {
  if (pod.isHostNetwork) return [ok('network', 'is on the network of its node')];
  if (pod.node === undefined) {
    const found = `pod ${pod.key} is not scheduled${pod.waits.length === 0 ? '' : `: ${pod.waits.join('; ')}`}`;
    return [blocked('node', 'unscheduled', found, `kubectl -n ${pod.namespace} describe pod ${pod.name}`)];
  }
  const desired = desiredAttachments(pod, scene);
  return [
    servedFinding(pod.node, scene, pod.isReady),
    ...desired.findings,
    ...entryFindings(pod, pod.node, desired.attachments, scene),
  ];
};

/** All that a network can do for it is done, or the node cannot plug it. */
const containersFinding = (pod: PodState, scene: Scene): Finding => {
  if (pod.isReady) return ok('containers', 'are ready');
  const event = podEvent(pod, scene);
  const reasons = event === undefined ? pod.waits : [...pod.waits.map((wait) => withoutMessageOf(event, wait)), event];
  const found = `it has all its addresses; the kubelet of node ${pod.node} does not report it Ready${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
  const next =
    reasons.length === 0 ? `udnctl explain pod ${pod.key}` : `kubectl -n ${pod.namespace} describe pod ${pod.name}`;
  return blocked('containers', 'containers', found, next);
};

/** `NAME: REASON` of `NAME: REASON: MESSAGE` where the event has the same message. */
const withoutMessageOf = (event: string, wait: string): string => {
  const [name = '', reason = '', ...message] = wait.split(': ');
  return message.length > 0 && event.includes(message.join(': ')) ? `${name}: ${reason}` : wait;
};

/** It has its networks, and programs that look for its interfaces do not find them. */
const statusFindings = (pod: PodState, { events }: Scene): readonly Finding[] => {
  if (pod.isHostNetwork || pod.hasNetworkStatus) return [];
  const refused = events.filter(({ message }) => message.startsWith(UNWRITTEN));
  const [message] = eventsAbout(`Pod/${pod.key}`, { events: refused }, pod.uid);
  return message === undefined ? [] : [warning('network-status', message)];
};

const UNWRITTEN = `${POD_ANNOTATIONS.networkStatus} cannot be written`;

/**
 * The latest warning that is still true. While ADD fails, agent and kubelet repeat theirs, and the API server keeps them; after
 * ADD has succeeded it keeps them for an hour, and they explain nothing any more.
 */
const podEvent = ({ key, uid, networkReadySince }: PodState, { events }: Scene): string | undefined => {
  const isPast = ({ reason, at }: EventState): boolean =>
    networkReadySince !== undefined && at <= networkReadySince && NETWORK_REASONS.includes(reason);
  const current = events.filter((event) => !isPast(event));
  const ofNetwork = current.filter(({ reason }) => NETWORK_REASONS.includes(reason));
  const about = (some: readonly EventState[]): string | undefined =>
    eventsAbout(`Pod/${key}`, { events: some }, uid)[0];
  return about(ofNetwork) ?? about(current);
};

/** Of the agent, and of the kubelet with the agent's message in it: the pod has no network. */
const NETWORK_REASONS: readonly string[] = ['ErrorAttachingPod', 'ErrorAllocatingPod', 'FailedCreatePodSandBox'];

const leavingFindings = (pod: PodState, scene: Scene): readonly Finding[] => {
  const asked = ok('deletion', `requested at ${pod.deletionTimestamp}`);
  const held = finalizerFindings(`Pod ${pod.key}`, pod.finalizers);
  if (pod.node === undefined) return [asked, ...held];
  const node = servedFinding(pod.node, scene, false);
  const [event] = eventsAbout(`Pod/${pod.key}`, scene, pod.uid);
  if (held.length > 0 || node.state === 'blocked') return [asked, node, ...held];
  const found = `the kubelet of node ${pod.node} is terminating it${event === undefined ? '' : `: ${event}`}`;
  return [
    asked,
    node,
    blocked('kubelet', 'being-deleted', found, `kubectl -n ${pod.namespace} describe pod ${pod.name}`),
  ];
};

export const absentPod = (key: string, scene: Scene): Diagnosis => {
  const [namespace = ''] = key.split('/');
  const subject = `pod ${key}`;
  const hidden = scene.unread.find(({ resource }) => resource === 'pods');
  if (hidden !== undefined)
    return { ...absent(subject, `${hidden.what}: ${hidden.why}`), findings: [unknown('pods', hidden.why)] };
  const isThere = scene.namespaces.has(namespace) || scene.unread.some(({ resource }) => resource === 'namespaces');
  return absent(subject, isThere ? 'no such pod' : `namespace ${namespace} does not exist`);
};

const absent = (subject: string, why: string): Diagnosis =>
  diagnosisOf(
    subject,
    [blocked('object', 'not-found', why, 'list the names: udnctl pods -A')],
    '',
    'cannot be inspected',
  );
