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
  const requests = ignoredRequests(pod.annotations, pod.key).flatMap(({ nad, message }) =>
    nad === undefined || registry.nad(nad) !== undefined ? [message] : [],
  );
  return [...requests, ...ignoredOnLayer3(pod, labels, registry)];
};

/** The agent of its node allocates the addresses of a layer-3 network, from the node's subnet, and follows no request. */
const ignoredOnLayer3 = (pod: PodFacts, labels: Labels | undefined, registry: NetworkRegistry): readonly string[] => {
  if (labels === undefined || pod.annotations.defaultNetwork === undefined) return [];
  const primary = registry.primaryOf(pod.namespace, labels);
  if (primary.kind !== 'network' || primary.nad.conf.topology !== 'layer3') return [];
  const asked = readable(pod.annotations.defaultNetwork, pod.key);
  const ignored = [
    ...((asked?.ips ?? []).length > 0 ? ['ips'] : []),
    ...(asked?.mac === undefined ? [] : ['mac']),
    ...(asked?.ipamClaim === undefined ? [] : ['ipam-claim-reference']),
  ];
  const { name } = primary.nad.conf;
  return ignored.map(
    (key) =>
      `${POD_ANNOTATIONS.defaultNetwork}: ${key} has no effect: network ${name} has topology Layer3, where the node allocates addresses; use Layer2 for static ones`,
  );
};

/** What can't be read has no effect on such a network either, and nothing in it is a request. */
const readable = (text: string, pod: string): NetworkSelection | undefined => {
  try {
    return parseDefaultNetworkSelection(text, pod);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};
