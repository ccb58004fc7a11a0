/** Whether a pod has its address of each of its networks, and if not, who owes it. Pure. */

import { ApiError, describeApiError } from '../../api/errors.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { hasClusterIpam } from '../../api/network.ts';
import { ONLY_RESERVED_LEFT } from '../../cluster-manager/allocation/address-pools.ts';
import type { PodState } from '../cluster/pod-state.ts';
import { nextOfShortage } from './address-shortage.ts';
import type { Scene } from './allocations.ts';
import type { DesiredAttachment } from './attachments.ts';
import { blocked, type Finding, ok } from './finding.ts';
import { waitsForManager } from './manager.ts';
import { eventsAbout } from './nad-findings.ts';
import { nodeFinding } from './node-findings.ts';
import { type PodEntries, podEntries } from './pod-entries.ts';

/** @param node of the pod */
export const entryFindings = (
  pod: PodState,
  node: string,
  attachments: readonly DesiredAttachment[],
  scene: Scene,
): readonly Finding[] => {
  const entries = podEntries(pod);
  if (entries instanceof ApiError) {
    return [blocked('annotation', 'annotation-unreadable', describeApiError(entries), deleteIt(pod))];
  }
  return attachments.map(
    (attachment) =>
      contestedFinding(pod, attachment, entries, scene) ??
      entryFinding(pod, attachment, entries) ??
      missingFinding(pod, node, attachment, scene),
  );
};

/** Its annotation has what belongs to another pod: the agent refuses its port, and the events of both programs say so in turns. */
const contestedFinding = (
  pod: PodState,
  attachment: DesiredAttachment,
  entries: PodEntries,
  scene: Scene,
): Finding | undefined => {
  const { network, nadKey } = attachment;
  if (pod.isReady || !hasClusterIpam(attachment) || !entries.has(nadKey)) return undefined;
  const conflicts = scene.allocations().podConflicts(pod);
  const message = conflicts.find((text) => text.startsWith(`network ${network}: `) && DELETE_THE_POD.test(text));
  if (message === undefined) return undefined;
  const next = `kubectl -n ${pod.namespace} delete pod ${pod.name}; apply it without the annotation k8s.ovn.org/pod-networks`;
  return blocked(`network ${network}`, 'request-refused', message.replace(DELETE_THE_POD, ''), next);
};

/** The end of what the cluster manager says of an annotation that no pod may have. */
const DELETE_THE_POD = /; delete the pod$/;

const deleteIt = ({ namespace, name }: PodState): string =>
  `kubectl -n ${namespace} delete pod ${name}: its controller recreates it`;

/** Undefined: it has none, and may still get one. */
const entryFinding = (
  pod: PodState,
  { nadKey, network, role, interface: name }: DesiredAttachment,
  entries: PodEntries,
): Finding | undefined => {
  const what = `network ${network}`;
  const entry = entries.get(nadKey);
  if (entry instanceof ApiError) {
    const found = `${entry.object}: ${nadKey}: ${entry.message}`;
    return blocked(what, 'annotation-unreadable', found, deleteIt(pod));
  }
  if (role !== 'primary' || !isOlder(entries)) {
    return entry === undefined ? undefined : ok(what, [name, ...entry.ipAddresses, entry.mac].join(' '));
  }
  const found = `pod ${pod.key} was created before network ${network} and is on the default network`;
  return blocked(what, 'older-than-network', found, deleteIt(pod));
};

/**
 * The agent has given it the default network as its primary one. A label or a network that came later changes no pod that
 * runs, although the cluster manager may have given it an address since.
 */
const isOlder = (entries: PodEntries): boolean => {
  const entry = entries.get(DEFAULT_NETWORK_NAME);
  return entry !== undefined && !(entry instanceof ApiError) && entry.role === 'primary';
};

/** The cluster manager gives out the addresses of layer 2 and localnets, the node's agent all others. */
const missingFinding = (pod: PodState, node: string, attachment: DesiredAttachment, scene: Scene): Finding => {
  const { network } = attachment;
  const found = `pod ${pod.key} has no address of network ${network}`;
  const event = eventsAbout(`Pod/${pod.key}`, scene, pod.uid).find((text) => isAbout(text, network));
  if (hasClusterIpam(attachment)) return unassignedFinding(pod, attachment, { found, event }, scene);
  const what = `network ${network}`;
  const state = scene.nodes.get(node);
  const unprepared = state === undefined ? undefined : nodeFinding(state, network, scene);
  if (unprepared !== undefined) return { ...unprepared, found: `${found}: ${unprepared.found}` };
  if (event !== undefined && EXHAUSTED.test(event)) {
    const next = `delete pods of the network on node ${node}, or run this one on another node`;
    return blocked(what, 'addresses-exhausted', `${found}: ${event}`, next);
  }
  const reported = event === undefined ? `${found} from the agent of node ${node}` : `${found}: ${event}`;
  return blocked(what, 'address-missing', reported, `on node ${node}: udnctl explain pod ${pod.key}`);
};

const EXHAUSTED = new RegExp(` has no free address left( ${ONLY_RESERVED_LEFT})?$| has no tunnel id left$`);

/** `network red_red: …` is about that one only. */
const isAbout = (text: string, network: string): boolean => {
  const [, named] = /^network (\S+): /.exec(text) ?? [];
  return named === undefined || named === network;
};

interface Reported {
  readonly found: string;
  readonly event: string | undefined;
}

const unassignedFinding = (pod: PodState, attachment: DesiredAttachment, reported: Reported, scene: Scene): Finding => {
  const { network } = attachment;
  const what = `network ${network}`;
  const { messages, isExhausted } = scene.allocations().podProblems(pod);
  const message = messages.find((text) => isAbout(text, network)) ?? reported.event;
  if (message === undefined) return waitsForManager(scene, what, 'address-missing', reported.found);
  const found = `${reported.found}: ${message}`;
  // Who sees one namespace of a network of the cluster does not see who has its addresses, but the event says it.
  if (!isExhausted && !EXHAUSTED.test(message)) {
    return blocked(
      what,
      'request-refused',
      found,
      'release what it requests, or recreate the pod with another request',
    );
  }
  return blocked(what, 'addresses-exhausted', found, nextOfShortage(message));
};
