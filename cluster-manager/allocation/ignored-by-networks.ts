/** What an active pod asks for and does not get, whatever it is given: messages for its events. Pure. */
import { ignoredRequests } from '../../api/annotations/ignored-requests.ts';
import { type NetworkSelection, parseDefaultNetworkSelection } from '../../api/annotations/network-selection.ts';
import { ApiError } from '../../api/errors.ts';
import type { Labels } from '../../api/label-selector.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { NetworkRegistry } from './network-registry.ts';

/** @param labels of the pod's namespace; undefined as long as it is not known */
export const ignoredByNetworks = (
  pod: PodFacts,
  labels: Labels | undefined,
  registry: NetworkRegistry,
): readonly string[] => {
  if (!pod.isActive) return [];
  // What refuses the pod, its node says.
  const requests = ignoredRequests(pod.annotations, pod.key).flatMap(({ nad, message, refuses = false }) =>
    !refuses && (nad === undefined || registry.nad(nad) !== undefined) ? [message] : [],
  );
  return [...requests, ...ignoredByNodes(pod, labels, registry)];
};

/**
 * The agent of its node allocates the addresses of the default network and of layer-3 networks, from the node's subnet, and follows no
 * request. On layer 2 requests are followed, or refuse the pod (`podAttachments`).
 */
const ignoredByNodes = (pod: PodFacts, labels: Labels | undefined, registry: NetworkRegistry): readonly string[] => {
  const { defaultNetwork, primaryClaim } = pod.annotations;
  if (labels === undefined || (defaultNetwork === undefined && primaryClaim === undefined)) return [];
  const why = whyNodesGive(pod.namespace, labels, registry);
  if (why === undefined) return [];
  const asked = readRequest(defaultNetwork, pod.key);
  if ('unreadable' in asked) return [`${asked.unreadable}: ignored`, ...claimed(primaryClaim, why)];
  const keys = [
    ...(asked.ips.length > 0 ? ['ips'] : []),
    ...(asked.mac === undefined ? [] : ['mac']),
    ...(asked.ipamClaim === undefined ? [] : ['ipam-claim-reference']),
  ];
  return [
    ...keys.map((key) => `${POD_ANNOTATIONS.defaultNetwork}: ${key} has no effect: ${why}`),
    ...claimed(primaryClaim, why),
  ];
};

const claimed = (claim: string | undefined, why: string): readonly string[] =>
  claim === undefined ? [] : [`${POD_ANNOTATIONS.primaryClaim} has no effect: ${why}`];

const whyNodesGive = (namespace: string, labels: Labels, registry: NetworkRegistry): string | undefined => {
  const primary = registry.primaryOf(namespace, labels);
  if (primary.kind === 'default')
    return `namespace ${namespace} has no primary network, and on the default network the node allocates addresses`;
  if (primary.kind !== 'network' || primary.nad.conf.topology !== 'layer3') return undefined;
  const { name } = primary.nad.conf;
  return `network ${name} has topology Layer3, where the node allocates addresses; use Layer2 for static ones`;
};

type Request = Pick<NetworkSelection, 'ips' | 'mac' | 'ipamClaim'>;

const readRequest = (text: string | undefined, pod: string): Request | { readonly unreadable: string } => {
  if (text === undefined) return { ips: [] };
  try {
    return parseDefaultNetworkSelection(text, pod);
  } catch (error) {
    if (error instanceof ApiError) return { unreadable: `${error.object}: ${error.message}` };
    throw error;
  }
};
