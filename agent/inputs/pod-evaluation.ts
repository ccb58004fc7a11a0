/**
 * What a pod has of what its annotation says. Who makes a pod writes what he likes into it: entries of networks that the pod
 * is not on are left out, and with one that has what is no pod's it gets no port at all. Pure.
 */
import type { PodNetworkEntry, PodNetworkRole } from '../../api/annotations/pod-networks.ts';
import { mayAttach } from '../../api/attachment-scope.ts';
import { DEFAULT_NETWORK_NAME, POD_ANNOTATIONS, parseNadKey } from '../../api/names.ts';
import { hasClusterIpam, hasPortKeys } from '../../api/network.ts';
import { brokenPodEntry } from '../../api/pod-entry-rules.ts';
import { isServed } from '../../api/served-networks.ts';
import { nadOf, type Selection, scopedNad } from '../model/attachments.ts';
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
  const results =
    namespace === undefined ? [] : [...pod.networks].map((one) => evaluateEntry(pod, namespace, one, view));
  const [broken] = results.flatMap(({ broken: why }) => why ?? []);
  if (broken !== undefined) return { fact: { ...pod, networks: NO_NETWORKS, barred: broken }, isNameTaken: false };
  const counting = results.flatMap(({ nadKey, entry }) => (entry === undefined ? [] : [[nadKey, entry] as const]));
  // Of nearly all pods all is as it was, and needs no copy.
  const isWhole =
    counting.length === pod.networks.size && counting.every(([key, entry]) => pod.networks.get(key) === entry);
  return { fact: isWhole ? pod : { ...pod, networks: new Map(counting) }, isNameTaken: false };
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
  const { network, role, selection } = membership;
  const subnets = hasClusterIpam(network)
    ? network.subnets.map(({ cidr }) => cidr)
    : view.nodeSubnets(view.node, network.name);
  // Of a network without IPAM, the entry has a MAC and no addresses.
  if (subnets.length === 0 && (network.role !== 'secondary' || !hasClusterIpam(network))) return { nadKey };
  const broken = brokenPodEntry(entry, { network, subnets, role, requestedGateways: selection?.defaultRoute });
  if (broken === undefined) return { nadKey, entry: entry.role === role ? entry : { ...entry, role } };
  return { nadKey, broken: `${POD_ANNOTATIONS.networks}: ${nadKey}: ${broken}; delete the pod` };
};

interface Membership {
  readonly network: NetworkFact;
  readonly role: PodNetworkRole;
  readonly selection?: Selection;
}

/** The network, if the pod can have a port on it. Of a pod of another node that is one that spans the nodes. */
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
  const selection = pod.selected?.find((one) => one.nadKey === nadKey);
  if (selection !== undefined) {
    const network = view.networkOfNad(nadOf(selection));
    const isOn =
      network?.role === 'secondary' && mayAttach(scopedNad(selection, network, view), pod.namespace, view.cluster);
    return isOn && isServed(network) && (isLocal || hasPortKeys(network))
      ? { network, role: 'secondary', selection }
      : undefined;
  }
  const nad = parseNadKey(nadKey);
  if (!wantsPrimaryNetwork || nad?.namespace !== pod.namespace || nad.attachment !== 0) return undefined;
  const network = view.networkOfNad(nadKey);
  if (network?.role !== 'primary' || (!isLocal && network.topology !== 'layer2')) return undefined;
  return { network, role: 'primary' };
};

const NO_NETWORKS: PodFact['networks'] = new Map();
