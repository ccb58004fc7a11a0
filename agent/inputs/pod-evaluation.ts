/**
 * What a pod has of what its annotation says. Who makes a pod writes what he likes into it: entries of networks that the pod
 * may not be on are left out, and so are those of secondary networks that have what is no pod's. With such an entry of its own network it
 * gets no port at all. Pure.
 */
import { MOST_SELECTIONS } from '../../api/annotations/network-selection.ts';
import type { PodNetworkEntry, PodNetworkRole } from '../../api/annotations/pod-networks.ts';
import { mayAttach } from '../../api/attachment-scope.ts';
import { DEFAULT_NETWORK_NAME, nadKey, POD_ANNOTATIONS, parseNadKey } from '../../api/names.ts';
import { hasClusterIpam, hasPortKeys } from '../../api/network.ts';
import { brokenPodEntry } from '../../api/pod-entry-rules.ts';
import { nadOf, scopedNad } from '../model/attachments.ts';
import type { NamespaceFact, NetworkFact, PodFact } from '../model/facts.ts';
import { podPortName } from '../model/names.ts';
import type { View } from '../model/view.ts';
import { holderOfPortName } from './port-name-clash.ts';

export interface EvaluatedPod {
  /** With the networks that count. */
  readonly fact: PodFact;
  /** Its name is taken: it has no port, whatever it has been given. */
  readonly isNameTaken: boolean;
}

export const evaluatePod = (pod: PodFact, view: View): EvaluatedPod => {
  if (pod.hostNetwork) return { fact: { ...pod, networks: NO_NETWORKS }, isNameTaken: false };
  if (pod.finished || pod.node === undefined) return { fact: pod, isNameTaken: false };
  const taken = takenName(pod, view);
  if (taken !== undefined) return { fact: { ...pod, networks: NO_NETWORKS, barred: taken }, isNameTaken: true };
  const namespace = view.namespace(pod.namespace);
  const evaluated =
    namespace === undefined ? [] : [...pod.networks].map((one) => evaluateEntry(pod, namespace, one, view));
  const results = withoutSamePorts(pod, evaluated);
  const [broken] = results.flatMap(({ isSecondary, broken: why }) => (isSecondary ? [] : (why ?? [])));
  if (broken !== undefined) return { fact: { ...pod, networks: NO_NETWORKS, barred: broken }, isNameTaken: false };
  // Of a secondary network: that network alone is lost, and the rest of a pod that runs stays its own.
  const refused = new Map(
    results.flatMap(({ nadKey, broken: why }): [string, string][] => (why === undefined ? [] : [[nadKey, why]])),
  );
  const counting = results.flatMap(({ nadKey, entry }) => (entry === undefined ? [] : [[nadKey, entry] as const]));
  // Of nearly all pods all is as it was, and needs no copy.
  const isWhole =
    counting.length === pod.networks.size && counting.every(([key, entry]) => pod.networks.get(key) === entry);
  if (isWhole) return { fact: pod, isNameTaken: false };
  const networks = new Map(counting);
  return { fact: refused.size === 0 ? { ...pod, networks } : { ...pod, networks, refused }, isNameTaken: false };
};

/** Every pod of this node has a port on the default network, and one on its namespace's. */
const takenName = ({ namespace, name, node, networks, selected = [] }: PodFact, view: View): string | undefined => {
  const primary = view.primaryNad(namespace)?.nad;
  const keys = new Set([
    ...(node === view.node ? [DEFAULT_NETWORK_NAME] : []),
    ...(primary === undefined ? [] : [primary]),
    ...selected.map(({ nadKey }) => nadKey),
    ...networks.keys(),
  ]);
  for (const key of keys) {
    const port = podPortName(key, namespace, name);
    const holder = holderOfPortName(port, view);
    if (holder !== undefined) return `its port name ${port} belongs to ${holder}; rename the pod`;
  }
  return undefined;
};

interface EvaluatedEntry {
  readonly nadKey: string;
  readonly isSecondary?: boolean;
  /** Absent: the pod is not on this network, or it is not known yet. */
  readonly entry?: PodNetworkEntry;
  readonly broken?: string;
}

const evaluateEntry = (
  pod: PodFact,
  namespace: NamespaceFact,
  [nadKey, entry]: readonly [string, PodNetworkEntry],
  view: View,
): EvaluatedEntry => {
  const membership = membershipOf(pod, namespace, nadKey, view);
  if (membership === undefined) return { nadKey };
  const { network, role } = membership;
  const subnets = hasClusterIpam(network)
    ? network.subnets.map(({ cidr }) => cidr)
    : view.nodeSubnets(view.node, network.name);
  // Of a network without IPAM, the entry has a MAC and no addresses.
  if (subnets.length === 0 && (network.role !== 'secondary' || !hasClusterIpam(network))) return { nadKey };
  const broken = brokenPodEntry(entry, { network, subnets, role });
  const isSecondary = role === 'secondary';
  if (broken === undefined) return { nadKey, isSecondary, entry: entry.role === role ? entry : { ...entry, role } };
  return { nadKey, isSecondary, broken: `${POD_ANNOTATIONS.networks}: ${nadKey}: ${broken}; delete the pod` };
};

/**
 * No two entries are one port (`dotted` of api/names.ts): its own networks are before the secondary ones, and of these what comes first.
 * ADD refuses such a pod; entries may have come before the second NAD was a network of ours.
 */
const withoutSamePorts = (
  { namespace, name }: PodFact,
  results: readonly EvaluatedEntry[],
): readonly EvaluatedEntry[] => {
  if (results.length < 2) return results;
  const holders = new Map<string, string>();
  const holderOf = ({ nadKey }: EvaluatedEntry): string => {
    const port = podPortName(nadKey, namespace, name);
    const holder = holders.get(port) ?? nadKey;
    holders.set(port, holder);
    return holder;
  };
  for (const one of results) if (one.isSecondary !== true && one.entry !== undefined) holderOf(one);
  return results.map((one): EvaluatedEntry => {
    if (one.isSecondary !== true || one.entry === undefined) return one;
    const holder = holderOf(one);
    if (holder === one.nadKey) return one;
    const { nadKey, isSecondary } = one;
    return {
      nadKey,
      isSecondary,
      broken: `${POD_ANNOTATIONS.networks}: ${nadKey}: its port has the name of that of ${holder}`,
    };
  });
};

interface Membership {
  readonly network: NetworkFact;
  readonly role: PodNetworkRole;
}

/**
 * The network, if the pod can have a port on it. Of a pod of another node that is one that spans the nodes. A secondary one by a NAD of
 * the pod's namespace need not be selected: a pod keeps what it has when its annotation is edited. The cluster manager counts the same
 * entries (`attachedKeys`).
 */
const membershipOf = (
  pod: PodFact,
  { wantsPrimaryNetwork }: NamespaceFact,
  nadKey: string,
  view: View,
): Membership | undefined => {
  const isLocal = pod.node === view.node;
  if (nadKey === DEFAULT_NETWORK_NAME) {
    const network = isLocal ? view.network(DEFAULT_NETWORK_NAME) : undefined;
    return network && { network, role: wantsPrimaryNetwork ? 'infrastructure-locked' : 'primary' };
  }
  const nad = parseNadKey(nadKey);
  const network = nad && view.networkOfNad(nadOf(nad));
  if (nad === undefined || network === undefined) return undefined;
  if (network.role === 'secondary') {
    // A machine's of another node has none on a localnet here, but the addresses: the machine may have moved there from this node.
    const canHavePort = isLocal || hasPortKeys(network) || (pod.machine !== undefined && hasClusterIpam(network));
    return canHavePort && isOnSecondary(pod, nad, network, view) ? { network, role: 'secondary' } : undefined;
  }
  if (!wantsPrimaryNetwork || nad.namespace !== pod.namespace || nad.attachment !== 0) return undefined;
  if (network.role !== 'primary' || (!isLocal && network.topology !== 'layer2')) return undefined;
  return { network, role: 'primary' };
};

const isOnSecondary = (
  pod: PodFact,
  nad: NonNullable<ReturnType<typeof parseNadKey>>,
  network: NetworkFact,
  view: View,
): boolean => {
  if (!mayAttach(scopedNad(nad, network, view), pod.namespace, view.cluster)) return false;
  if (nad.namespace === pod.namespace) return nad.attachment < MOST_SELECTIONS;
  const key = nadKey(nad.namespace, nad.name, nad.attachment);
  return pod.selected?.some((one) => one.nadKey === key) === true;
};

const NO_NETWORKS: PodFact['networks'] = new Map();
