/**
 * What a pod's annotation should say about the layer-2 networks of the pod. Changes nothing but the ledgers, so that the
 * next pod gets something else.
 */

import { annotationOf } from '../../api/annotations/annotation-of.ts';
import { type PodNetworkEntry, parsePodNetworkEntry, podNetworkEntryJson } from '../../api/annotations/pod-networks.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { parseJson } from '../../api/parse.ts';
import { podNetworkEntry } from '../../api/pod-network-entry.ts';
import { AllocationError } from '../errors.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { PodAllocations } from './pod-allocations.ts';
import type { Layer2Attachment } from './pod-attachments.ts';

export interface PodPlan {
  /** The keys to write, as JSON values. */
  readonly entries: Readonly<Record<string, unknown>>;
  /** Sentences for the pod's events. */
  readonly problems: readonly string[];
  /** The networks that had nothing (left) for the pod: it has to try again when something of them is released. */
  readonly waitsFor: readonly string[];
}

/** Entries that are there already stay as they are, whoever wrote them: the pod may run with them. */
export const planPod = (
  pod: PodFacts,
  attachments: readonly Layer2Attachment[],
  cluster: ClusterConfig,
  allocations: PodAllocations,
): PodPlan => {
  const existing = existingEntries(pod);
  if (existing instanceof ApiError) return { ...NOTHING, problems: [`${existing.object}: ${existing.message}`] };
  const plans = attachments.map((attachment): PodPlan => {
    if (attachment.nadKey in existing) return recover(pod, attachment, existing[attachment.nadKey], allocations);
    return assign(pod, attachment, cluster, allocations);
  });
  return {
    entries: Object.assign({}, ...plans.map(({ entries }) => entries)),
    problems: plans.flatMap(({ problems }) => problems),
    waitsFor: plans.flatMap(({ waitsFor }) => waitsFor),
  };
};

const NOTHING: PodPlan = { entries: {}, problems: [], waitsFor: [] };

const existingEntries = ({ key, annotations }: PodFacts): Readonly<Record<string, unknown>> | ApiError => {
  const text = annotations.networks;
  if (text === undefined || text === '') return {};
  const object = annotationOf('Pod', POD_ANNOTATIONS.networks, key);
  try {
    const value = parseJson(text, object);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    return new ApiError('ERR_API_FIELD', 'must be a map', { object });
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};

const recover = (
  pod: PodFacts,
  { nadKey, record }: Layer2Attachment,
  value: unknown,
  allocations: PodAllocations,
): PodPlan => {
  if (allocations.holds(pod.key, nadKey)) return NOTHING;
  try {
    const { ipAddresses, mac, tunnelId } = parsePodNetworkEntry(value, pod.key);
    const held = { addresses: ipAddresses, mac, tunnelId };
    const problems = allocations.recover(pod.key, nadKey, record.name, held);
    return { ...NOTHING, problems: problems.map((problem) => `network ${record.name}: ${problem}; delete the pod`) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...NOTHING, problems: [`${error.object}: ${nadKey}: ${error.message}`] };
  }
};

const assign = (
  pod: PodFacts,
  attachment: Layer2Attachment,
  cluster: ClusterConfig,
  allocations: PodAllocations,
): PodPlan => {
  const { nadKey, record, role, request, requestedGateways, defaultRouteElsewhere } = attachment;
  try {
    const { addresses, mac, tunnelId } = allocations.assign(pod.key, nadKey, record.name, request);
    const entry: PodNetworkEntry = podNetworkEntry({
      network: record.network,
      cluster,
      role,
      addresses,
      mac,
      tunnelId,
      requestedGateways,
      defaultRouteElsewhere,
    });
    return { ...NOTHING, entries: { [nadKey]: podNetworkEntryJson(entry) } };
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    return { ...NOTHING, problems: [`network ${record.name}: ${error.message}`], waitsFor: [record.name] };
  }
};
