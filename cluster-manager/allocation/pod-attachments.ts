/** Which layer-2 networks and localnets a pod is attached to, and what it asks of each. Pure. */

import { annotationOf } from '../../api/annotations/annotation-of.ts';
import {
  type Attachment,
  attachmentsOf,
  type NetworkSelection,
  parseDefaultNetworkSelection,
  parseNetworkSelections,
} from '../../api/annotations/network-selection.ts';
import type { PodNetworkRole } from '../../api/annotations/pod-networks.ts';
import { notFor } from '../../api/attachment-scope.ts';
import { ApiError } from '../../api/errors.ts';
import type { Labels } from '../../api/label-selector.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { hasClusterIpam } from '../../api/network.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { withoutAttachment } from '../facts/attached-keys.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import { scopedNad } from './nad-scope.ts';
import type { NadRecord, NetworkRecord, NetworkRegistry } from './network-registry.ts';
import type { AddressRequest } from './port.ts';

/** An attachment whose addresses are ours to give. */
export interface Layer2Attachment {
  readonly nadKey: string;
  readonly record: NetworkRecord;
  readonly role: PodNetworkRole;
  readonly request: AddressRequest;
  /** Key of the IPAMClaim whose addresses it wants. */
  readonly claim: string | undefined;
  readonly requestedGateways: readonly Ip[];
  readonly defaultRouteElsewhere: readonly Family[];
}

/** An attachment that the pod's annotation says is made, by a key that counts. */
export interface MadeAttachment {
  readonly nadKey: string;
  readonly record: NetworkRecord;
}

/** Of networks whose addresses are ours to give. Who runs with an address has it, also where it would be refused today. */
export const madeAttachments = (pod: PodFacts, registry: NetworkRegistry): readonly MadeAttachment[] => {
  if (!pod.isActive) return [];
  return (pod.attachedKeys ?? []).flatMap((nadKey) => {
    const record = registry.networkOfNad(withoutAttachment(nadKey));
    const isMade = record !== undefined && isOurs(record) && !isForeign(pod, nadKey, registry);
    return isMade ? [{ nadKey, record }] : [];
  });
};

/** A network is for its namespaces, and a pod has its primary one once. */
const isForeign = ({ namespace }: PodFacts, nadKey: string, registry: NetworkRegistry): boolean => {
  const nad = registry.nad(withoutAttachment(nadKey));
  if (nad === undefined) return false;
  return !registry.isFor(nad, namespace) || (nad.conf.role === 'primary' && nad.key !== nadKey);
};

/** Keys that do not count: whoever wrote them, the pod is not on those networks. */
const strayProblems = (pod: PodFacts, registry: NetworkRegistry): readonly string[] => {
  const { annotatedKeys = [], attachedKeys } = pod;
  const counting = annotatedKeys === attachedKeys ? undefined : new Set(attachedKeys);
  const strays = annotatedKeys.filter((key) => counting?.has(key) === false || isForeign(pod, key, registry));
  if (strays.length === 0) return [];
  const more = strays.length > NAMED_STRAYS ? ` and ${strays.length - NAMED_STRAYS} more` : '';
  const named = strays.slice(0, NAMED_STRAYS).map((key) => key.slice(0, 120));
  const object = annotationOf('Pod', POD_ANNOTATIONS.networks, pod.key);
  return [`${object}: ${named.join(', ')}${more} are not attachments of this pod: ignored`];
};

const NAMED_STRAYS = 5;

export interface PodAttachments {
  readonly layer2: readonly Layer2Attachment[];
  /** Messages for the pod's events. */
  readonly problems: readonly string[];
}

/** @param labels of the pod's namespace; undefined as long as it is not known */
export const podAttachments = (
  pod: PodFacts,
  labels: Labels | undefined,
  registry: NetworkRegistry,
): PodAttachments => {
  if (!pod.isActive || labels === undefined) return NO_ATTACHMENTS;
  const selections = read(() => parseNetworkSelections(pod.annotations.selection ?? '', pod.key), []);
  const attachments = attachmentsOf(selections.value);
  const primary = primaryAttachment(pod, labels, registry, attachments);
  const secondary = attachments.map((attachment) => secondaryAttachment(pod, attachment, registry));
  return {
    layer2: [...primary.layer2, ...secondary.flatMap(({ layer2 }) => layer2)],
    problems: [
      ...selections.problems,
      ...primary.problems,
      ...secondary.flatMap(({ problems }) => problems),
      ...strayProblems(pod, registry),
    ],
  };
};

export const NO_ATTACHMENTS: PodAttachments = { layer2: [], problems: [] };

/** It takes what it is given: no address or claim of its own choice, no network beside those of its namespace. */
export const asksForNothing = ({ annotations }: PodFacts): boolean =>
  annotations.selection === undefined &&
  annotations.defaultNetwork === undefined &&
  annotations.primaryClaim === undefined;

const primaryAttachment = (
  pod: PodFacts,
  labels: Labels,
  registry: NetworkRegistry,
  attachments: readonly Attachment[],
): PodAttachments => {
  const primary = registry.primaryOf(pod.namespace, labels);
  const record = primary.kind === 'network' ? registry.networkOfNad(primary.nad.key) : undefined;
  if (primary.kind !== 'network' || record === undefined || !isOurs(record)) return NO_ATTACHMENTS;
  const desired = read(() => defaultSelection(pod), undefined);
  const request = { ips: desired.value?.ips ?? [], mac: desired.value?.mac };
  const claim = desired.value?.ipamClaim ?? pod.annotations.primaryClaim;
  const refusals = refuseClaim(claim, primary.nad, record, { pod, nadKey: primary.nad.key });
  const problems = [...desired.problems, ...refusals];
  if (problems.length > 0) return { layer2: [], problems };
  const defaultRouteElsewhere = attachments.flatMap(({ defaultRoute }) => defaultRoute.map(ipFamily));
  const nadKey = primary.nad.key;
  return {
    layer2: [
      {
        nadKey,
        record,
        role: 'primary',
        request,
        claim: isPersistent(primary.nad, record) ? claimKey(pod, claim) : undefined,
        requestedGateways: [],
        defaultRouteElsewhere,
      },
    ],
    problems: [],
  };
};

const defaultSelection = (pod: PodFacts): NetworkSelection | undefined =>
  pod.annotations.defaultNetwork === undefined
    ? undefined
    : parseDefaultNetworkSelection(pod.annotations.defaultNetwork, pod.key);

const secondaryAttachment = (pod: PodFacts, attachment: Attachment, registry: NetworkRegistry): PodAttachments => {
  const nad = registry.nad(`${attachment.namespace}/${attachment.name}`);
  const record = nad === undefined ? undefined : registry.networkOfNad(nad.key);
  if (nad === undefined || record === undefined) return NO_ATTACHMENTS;
  if (nad.conf.role === 'primary') {
    const message = `unexpected primary network "${nad.conf.name}" specified with a NetworkSelectionElement ${nad.key}`;
    return { layer2: [], problems: [message] };
  }
  if (!registry.isFor(nad, pod.namespace)) return { layer2: [], problems: [notFor(scopedNad(nad), pod.namespace)] };
  const { nadKey, ips, mac, defaultRoute, ipamClaim } = attachment;
  const problems = [...refuseClaim(ipamClaim, nad, record, { pod, nadKey }), ...refuseAddresses(ips, record)];
  if (!isOurs(record)) return { layer2: [], problems };
  if (problems.length > 0) return { layer2: [], problems };
  return {
    layer2: [
      {
        nadKey,
        record,
        role: 'secondary',
        request: { ips, mac },
        claim: isPersistent(nad, record) ? claimKey(pod, ipamClaim) : undefined,
        requestedGateways: defaultRoute,
        defaultRouteElsewhere: [],
      },
    ],
    problems: [],
  };
};

const claimKey = ({ namespace }: PodFacts, claim: string | undefined): string | undefined =>
  claim === undefined ? undefined : `${namespace}/${claim}`;

/**
 * Who asks for addresses that stay and would get others each time had better hear so. Who has some already got them when
 * the claim was not looked at, or was allowed.
 */
const refuseClaim = (
  claim: string | undefined,
  nad: NadRecord,
  record: NetworkRecord,
  { pod, nadKey }: { readonly pod: PodFacts; readonly nadKey: string },
): string[] => {
  if (claim === undefined || isPersistent(nad, record)) return [];
  if (pod.annotatedKeys?.includes(nadKey)) return [];
  return [`network ${record.name} does not allow persistent IPs, which IPAMClaim ${claim} is for`];
};

/** Beside what the ledger refuses, which knows the subnets. */
const refuseAddresses = (ips: readonly Ip[], { name, network }: NetworkRecord): string[] => {
  if (ips.length === 0) return [];
  if (!hasClusterIpam(network))
    return [`network ${name}: "ips" are not possible on topology Layer3, where nodes give addresses`];
  return network.subnets.length > 0 ? [] : [`network ${name}: "ips" are not possible without subnets`];
};

const isPersistent = ({ conf }: NadRecord, { network }: NetworkRecord): boolean =>
  conf.allowPersistentIps && network.subnets.length > 0 && hasClusterIpam(network);

/** Addresses of layer-3 networks are their nodes' to give. */
const isOurs = ({ network }: NetworkRecord): boolean => hasClusterIpam(network);

const read = <Value>(parse: () => Value, otherwise: Value): { value: Value; problems: readonly string[] } => {
  try {
    return { value: parse(), problems: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { value: otherwise, problems: [`${error.object}: ${error.message}`] };
  }
};
