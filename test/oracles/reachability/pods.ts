/** The pods of a cluster as they take part in a measurement, from the cluster's objects. Pure. */
import { type PodNetworkEntry, parsePodNetworks } from '../../../api/annotations/pod-networks.ts';
import { DEFAULT_NETWORK_NAME, nadKey, POD_ANNOTATIONS, parseNadKey } from '../../../api/names.ts';
import {
  nadNetConf,
  nadNetworkKeys,
  parseNetworkAttachmentDefinition,
} from '../../../api/network-attachment-definition.ts';
import { recordOr } from '../../../kube/is-record.ts';
import type { KubeObject } from '../../../kube/types.ts';
import { addressOf } from '../../../net/cidr.ts';
import type { Attachment, ReachabilityPod } from './types.ts';

/**
 * Pods that run and have addresses, in the order of their primary networks' ids, then by name.
 * @param nads NetworkAttachmentDefinitions of their namespaces
 * @throws ApiError for an annotation that cannot be read
 */
export const reachabilityPods = (pods: readonly KubeObject[], nads: readonly KubeObject[]): ReachabilityPod[] => {
  const networks = networksByNad(nads);
  return pods
    .flatMap((pod) => reachabilityPod(pod, networks) ?? [])
    .sort((a, b) => a.order - b.order || (a.key < b.key ? -1 : 1))
    .map(({ order: _, ...pod }) => pod);
};

interface NetworkOfNad {
  readonly name: string;
  readonly id: number;
}

const networksByNad = (nads: readonly KubeObject[]): ReadonlyMap<string, NetworkOfNad> =>
  new Map(
    nads.map(parseNetworkAttachmentDefinition).flatMap((nad): [string, NetworkOfNad][] => {
      const name = nadNetConf(nad)?.name;
      if (name === undefined) return [];
      const { namespace, name: nadName } = nad.metadata;
      return [[nadKey(namespace, nadName), { name, id: nadNetworkKeys(nad)?.id ?? 0 }]];
    }),
  );

const reachabilityPod = (
  { metadata, spec, status }: KubeObject,
  networks: ReadonlyMap<string, NetworkOfNad>,
): (ReachabilityPod & { readonly order: number }) | undefined => {
  const text = metadata.annotations?.[POD_ANNOTATIONS.networks];
  if (text === undefined || recordOr(status)['phase'] !== 'Running') return undefined;
  const key = `${metadata.namespace}/${metadata.name}`;
  const attachments = [...parsePodNetworks(text, key)]
    .map(([nad, entry]) => attachment(nad, entry, networks))
    .sort((a, b) => rank(a) - rank(b) || a.order - b.order);
  const { hostname = metadata.name, nodeName = '' } = recordOr(spec);
  return {
    key,
    hostname: String(hostname),
    node: String(nodeName),
    attachments: attachments.map(({ order: _, ...rest }) => rest),
    order: attachments[0]?.order ?? 0,
  };
};

const attachment = (
  key: string,
  { ipAddresses, role = 'primary' }: PodNetworkEntry,
  networks: ReadonlyMap<string, NetworkOfNad>,
): Attachment & { readonly order: number } => {
  const nad = parseNadKey(key);
  const network = nad === undefined ? undefined : networks.get(nadKey(nad.namespace, nad.name));
  const name = key === DEFAULT_NETWORK_NAME ? DEFAULT_NETWORK_NAME : (network?.name ?? key);
  return { network: name, role, addresses: ipAddresses.map(addressOf), order: network?.id ?? 0 };
};

const rank = ({ role }: Attachment): number => ['primary', 'secondary', 'infrastructure-locked'].indexOf(role);
