/**
 * Which primary network every pod should have, from the manifests alone. Pure. What a measurement expects comes from the
 * pods' annotations, which the programs under test wrote: only together with this it is a statement about them.
 */

import { parseClusterUserDefinedNetwork } from '../../../api/cluster-user-defined-network.ts';
import { type Labels, matchesSelector } from '../../../api/label-selector.ts';
import { cudnNetworkName, DEFAULT_NETWORK_NAME, PRIMARY_NETWORK_LABEL, udnNetworkName } from '../../../api/names.ts';
import { parseUserDefinedNetwork } from '../../../api/user-defined-network.ts';
import { recordOr } from '../../../kube/is-record.ts';
import { type Family, ipFamily } from '../../../net/ip.ts';
import type { ManifestObject } from '../../../sandbox/objects/manifests.ts';
import type { Attachment, ReachabilityPod } from './types.ts';

/** Name of the primary network by pod, `namespace/name`. @throws ApiError for a network that cannot be read */
export const intendedNetworks = (manifests: readonly ManifestObject[]): ReadonlyMap<string, string> => {
  const networks = networksByNamespace(manifests);
  const pods = manifests.filter(({ kind }) => kind === 'Pod');
  return new Map(
    pods.map(({ metadata: { namespace = 'default', name } }) => [
      `${namespace}/${name}`,
      networks.get(namespace) ?? DEFAULT_NETWORK_NAME,
    ]),
  );
};

/**
 * One message for every pod that does not take part as it should: it is missing, is on another network, or lacks an
 * address.
 * @param families of the cluster: every interface of a pod has to have an address of each
 */
export const unintended = (
  pods: readonly ReachabilityPod[],
  intended: ReadonlyMap<string, string>,
  families: readonly Family[],
): string[] => {
  const byKey = new Map(pods.map((pod) => [pod.key, pod]));
  return [...intended].flatMap(([key, network]) => {
    const pod = byKey.get(key);
    if (pod === undefined) return [`${key} does not run, or has no addresses`];
    return [...wrongNetworks(pod, network), ...wrongAddresses(pod, families)];
  });
};

const networksByNamespace = (manifests: readonly ManifestObject[]): ReadonlyMap<string, string> => {
  const namespaces = manifests.filter(({ kind }) => kind === 'Namespace').filter(isLabelled);
  const own = manifests
    .filter(({ kind }) => kind === 'UserDefinedNetwork')
    .map(parseUserDefinedNetwork)
    .filter(({ spec }) => isPrimary(spec))
    .map(({ metadata: { namespace, name } }): [string, string] => [namespace, udnNetworkName(namespace, name)]);
  const shared = manifests
    .filter(({ kind }) => kind === 'ClusterUserDefinedNetwork')
    .map(parseClusterUserDefinedNetwork)
    .filter(({ spec }) => isPrimary(spec.network))
    .flatMap(({ metadata, spec }) =>
      namespaces
        .filter((namespace) => matchesSelector(spec.namespaceSelector, labelsOf(namespace)))
        .map((namespace): [string, string] => [namespace.metadata.name ?? '', cudnNetworkName(metadata.name)]),
    );
  return new Map([...own, ...shared]);
};

const isLabelled = (namespace: ManifestObject): boolean => PRIMARY_NETWORK_LABEL in labelsOf(namespace);

const labelsOf = ({ metadata }: ManifestObject): Labels => ({
  // The API server gives every namespace this label.
  'kubernetes.io/metadata.name': metadata.name ?? '',
  ...Object.fromEntries(Object.entries(recordOr(metadata['labels'])).map(([key, value]) => [key, String(value)])),
});

interface Topologies {
  readonly layer2?: { readonly role: string } | undefined;
  readonly layer3?: { readonly role: string } | undefined;
}

const isPrimary = ({ layer2, layer3 }: Topologies): boolean => (layer3 ?? layer2)?.role === 'Primary';

const wrongNetworks = ({ key, attachments }: ReachabilityPod, desired: string): string[] => {
  const primary = attachments.find(({ role }) => role === 'primary')?.network ?? 'none';
  const others = attachments.filter(({ role }) => role === 'infrastructure-locked').map(({ network }) => network);
  const locked = desired === DEFAULT_NETWORK_NAME ? [] : [DEFAULT_NETWORK_NAME];
  return [
    ...(primary === desired ? [] : [`${key} has the primary network ${primary} and not ${desired}`]),
    ...(others.join() === locked.join() ? [] : [`${key} has locked interfaces on: ${others.join(', ') || 'none'}`]),
  ];
};

const wrongAddresses = ({ key, attachments }: ReachabilityPod, families: readonly Family[]): string[] =>
  attachments.flatMap(({ network, addresses }) =>
    families
      .filter((family) => !hasFamily(addresses, family))
      .map((family) => `${key} has no IPv${family} address on ${network}`),
  );

const hasFamily = (addresses: Attachment['addresses'], family: Family): boolean =>
  addresses.some((address) => ipFamily(address) === family);
