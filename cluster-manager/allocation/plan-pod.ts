/**
 * What a pod's annotation should say about the layer-2 networks of the pod. Changes nothing but the ledgers, so that the
 * next pod gets something else.
 */

import { annotationOf } from '../../api/annotations/annotation-of.ts';
import {
  type PodNetworkEntry,
  type PodNetworkHold,
  parsePodNetworkEntry,
  podNetworkEntryJson,
  readablePodNetworkHold,
} from '../../api/annotations/pod-networks.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { parseJson } from '../../api/parse.ts';
import { podNetworkEntry } from '../../api/pod-network-entry.ts';
import { cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import { AllocationError } from '../errors.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { ClaimBook } from './claim-book.ts';
import { refuseSize } from './entry-size.ts';
import type { PodAllocations, Sharing } from './pod-allocations.ts';
import type { Layer2Attachment, MadeAttachment } from './pod-attachments.ts';
import { namedClaims } from './pod-claims.ts';
import type { PodAllocation } from './port.ts';

export interface PodPlan {
  /** The keys to write, as JSON values. */
  readonly entries: Readonly<Record<string, unknown>>;
  /** Messages for the pod's events. */
  readonly problems: readonly string[];
  /** The networks that had nothing (left) for the pod: it has to try again when something of them is released. */
  readonly waitsFor: readonly string[];
  /** IPAMClaims that the pod got something by, or nothing: what they have is in their status before the entries are. */
  readonly claims: readonly string[];
}

/** Who has given out what. */
export interface Allocations {
  readonly pods: PodAllocations;
  readonly claims: ClaimBook;
}

/**
 * Entries that are there already stay as they are, whoever wrote them: the pod may run with them.
 * @param made attachments that have an entry
 */
export const planPod = (
  pod: PodFacts,
  { made, attachments }: { made: readonly MadeAttachment[]; attachments: readonly Layer2Attachment[] },
  cluster: ClusterConfig,
  allocations: Allocations,
): PodPlan => {
  if (hasAll(pod, made, attachments, allocations.pods)) return NOTHING;
  const existing = existingEntries(pod);
  if (existing instanceof ApiError) return { ...NOTHING, problems: [`${existing.object}: ${existing.message}`] };
  const missing = attachments.filter(({ nadKey }) => !(nadKey in existing));
  const refusal = refuseSize(pod, missing, cluster);
  const plans = [
    ...made.map((attachment) => {
      const desired = attachments.find(({ nadKey }) => nadKey === attachment.nadKey);
      return recover(pod, attachment, desired?.claim, existing[attachment.nadKey], allocations);
    }),
    ...(refusal === undefined
      ? missing.map((attachment) => assign(pod, attachment, cluster, allocations))
      : [{ ...NOTHING, problems: [refusal] }]),
  ];
  return {
    entries: Object.assign({}, ...plans.map(({ entries }) => entries)),
    problems: plans.flatMap(({ problems }) => problems),
    waitsFor: plans.flatMap(({ waitsFor }) => waitsFor),
    claims: plans.flatMap(({ claims }) => claims),
  };
};

export const NOTHING: PodPlan = { entries: {}, problems: [], waitsFor: [], claims: [] };

/** What the annotation says is noted, and it says all: that of most pods, at most changes. */
export const hasAll = (
  { key, annotatedKeys = [] }: PodFacts,
  made: readonly MadeAttachment[],
  attachments: readonly Layer2Attachment[],
  pods: PodAllocations,
): boolean =>
  made.every(({ nadKey }) => pods.holds(key, nadKey)) &&
  attachments.every(({ nadKey }) => annotatedKeys.includes(nadKey));

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
  { nadKey, record }: MadeAttachment,
  desiredClaim: string | undefined,
  value: unknown,
  { pods, claims }: Allocations,
): PodPlan => {
  if (pods.holds(pod.key, nadKey)) return NOTHING;
  const { hold, faults } = readHold(pod.key, nadKey, value);
  if (hold === undefined) return { ...NOTHING, problems: faults };
  const { ipAddresses, mac, tunnelId } = hold;
  const addresses = oneOfEachFamily(ipAddresses);
  const held = { addresses, mac, tunnelId };
  // What the pod asks for may have changed since, or be refused by now: its addresses may be those of a claim still.
  const claim = desiredClaim ?? claims.holderFor(pod, namedClaims(pod), { network: record.name, addresses });
  const owner = claim === undefined ? undefined : claims.ownerFor(claim, record.name);
  const sharing = sharingOf(pod, nadKey, owner);
  const more = ipAddresses.length - addresses.length;
  const problems = [
    ...(more > 0 ? [`it has ${ipAddresses.length} addresses, ${more} more than one of each family`] : []),
    ...pods.recover(pod.key, nadKey, record.name, held, sharing),
  ].map((problem) => `network ${record.name}: ${problem}; delete the pod`);
  return faults.length + problems.length === 0 ? NOTHING : { ...NOTHING, problems: [...faults, ...problems] };
};

const readHold = (
  pod: string,
  nadKey: string,
  value: unknown,
): { hold?: PodNetworkHold; faults: readonly string[] } => {
  try {
    return { hold: parsePodNetworkEntry(value, pod), faults: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const hold = readablePodNetworkHold(value);
    return { ...(hold !== undefined && { hold }), faults: [`${error.object}: ${nadKey}: ${error.message}`] };
  }
};

/** All that is given out; what else there is in an entry is kept for nobody. */
const oneOfEachFamily = (addresses: readonly InterfaceAddress[]): readonly InterfaceAddress[] =>
  addresses.filter(
    (address, position) => addresses.findIndex((one) => cidrFamily(one) === cidrFamily(address)) === position,
  );

const assign = (
  pod: PodFacts,
  attachment: Layer2Attachment,
  cluster: ClusterConfig,
  allocations: Allocations,
): PodPlan => {
  const { nadKey, record, role, claim, requestedGateways, defaultRouteElsewhere } = attachment;
  const claims = claim === undefined ? [] : [claim];
  try {
    const { addresses, mac, tunnelId } =
      claim === undefined
        ? allocations.pods.assign(pod.key, nadKey, record.name, attachment.request, sharingOf(pod, nadKey))
        : assignByClaim(pod, attachment, claim, allocations);
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
    return { ...NOTHING, entries: { [nadKey]: podNetworkEntryJson(entry) }, claims };
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    return { ...NOTHING, problems: [`network ${record.name}: ${error.message}`], waitsFor: [record.name], claims };
  }
};

const assignByClaim = (
  pod: PodFacts,
  attachment: Layer2Attachment,
  claim: string,
  { pods, claims }: Allocations,
): PodAllocation => {
  const { nadKey, record } = attachment;
  const { machine = pod.key } = sharingOf(pod, nadKey);
  const { owner, request } = claims.use(claim, {
    pod: pod.key,
    machine,
    network: record.name,
    request: attachment.request,
  });
  try {
    const sharing = sharingOf(pod, nadKey, owner);
    const allocation = pods.assign(pod.key, nadKey, record.name, request, sharing);
    claims.note(claim, pod.key, undefined);
    return allocation;
  } catch (error) {
    if (error instanceof AllocationError) claims.note(claim, pod.key, error);
    throw error;
  }
};

/** A virtual machine keeps its MAC in all of its pods; its addresses, too, where a claim or an annotation says so. */
const sharingOf = (
  { namespace, machine, sharesWithMachine }: PodFacts,
  nadKey: string,
  claimOwner?: string,
): Sharing => {
  const name = machine === undefined ? undefined : `VirtualMachine ${namespace}/${machine} (${nadKey})`;
  const owner = claimOwner ?? (sharesWithMachine ? name : undefined);
  return {
    ...(name !== undefined && { machine: name }),
    ...(owner !== undefined && { owner }),
    ...(claimOwner !== undefined && { isKept: true }),
  };
};
