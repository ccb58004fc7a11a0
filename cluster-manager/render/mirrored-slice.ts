/**
 * The mirror of an EndpointSlice, with the addresses that its pods have on their namespace's primary network. Pure.
 *
 * Kubernetes' own slices have the pods' addresses on the default network (`status.podIP`), where nobody but the kubelet
 * reaches them.
 */
import { createHash } from 'node:crypto';
import type { Endpoint } from '../../api/endpoint-slice.ts';
import { SLICE_ANNOTATIONS, SLICE_LABELS, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { OwnerReference } from '../../kube/types.ts';
import type { SliceFacts } from '../facts/slice-facts.ts';

export interface MirroredSlice {
  readonly apiVersion: 'discovery.k8s.io/v1';
  readonly kind: 'EndpointSlice';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly OwnerReference[];
  };
  readonly addressType: 'IPv4' | 'IPv6';
  readonly endpoints: readonly Endpoint[];
  readonly ports: SliceFacts['ports'];
}

/**
 * The address that an endpoint's pod has in the network, of the slice's family; undefined as long as it has none. A pod on
 * its node's network has that of the endpoint.
 */
export type AddressOf = (endpoint: Endpoint, family: 'IPv4' | 'IPv6') => string | undefined;

/** Undefined when there is nothing to send to: names are resolved elsewhere, and a mirror without endpoints says nothing. */
export const renderMirroredSlice = (
  source: SliceFacts,
  network: string,
  addressOf: AddressOf,
): MirroredSlice | undefined => {
  const { metadata, addressType, ports } = source;
  const { [SLICE_LABELS.service]: service, ...labels } = metadata.labels;
  if (addressType === 'FQDN' || service === undefined || service === '') return undefined;
  const endpoints = source.endpoints.flatMap((endpoint) => {
    const address = addressOf(endpoint, addressType);
    return address === undefined ? [] : [{ ...endpoint, addresses: [address] }];
  });
  if (endpoints.length === 0) return undefined;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: mirrorName(network, metadata.name),
      namespace: metadata.namespace,
      labels: {
        ...labels,
        [SLICE_LABELS.managedBy]: SLICE_MIRROR_CONTROLLER,
        [SLICE_LABELS.mirroredService]: service,
      },
      annotations: {
        [SLICE_ANNOTATIONS.network]: network,
        [SLICE_ANNOTATIONS.source]: metadata.name,
        [SLICE_ANNOTATIONS.sourceVersion]: metadata.resourceVersion ?? '',
      },
      ownerReferences: metadata.ownerReferences.map(ownerReference),
    },
    addressType,
    endpoints,
    ports,
  };
};

const ownerReference = ({
  controller,
  blockOwnerDeletion,
  ...reference
}: ObjectMeta['ownerReferences'][number]): OwnerReference => ({
  ...reference,
  ...(controller !== undefined && { controller }),
  ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
});

/** RFC 1123, section 2.1, as the API server has it for names of objects. */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

/**
 * `<network>-<source>` where that is a name, else the source's with a part that is the network's and its own: always the same
 * one, so that a mirror that was written and not heard of is written again, and not a second one beside it.
 */
export const mirrorName = (network: string, source: string): string => {
  const name = `${network}-${source}`;
  if (name.length <= MAX_NAME && SUBDOMAIN.test(name)) return name;
  const mark = createHash('sha256').update(`${network}\n${source}`).digest('hex').slice(0, 10);
  return `${source.slice(0, MAX_NAME - mark.length - 1).replace(/[-.]+$/, '')}-${mark}`;
};
