/** Which networks a pod of this node is to be attached to, and what it has been given so far. */
import type { Attachment as SelectedNetwork } from '../../api/annotations/network-selection.ts';
import type { PodNetworkRole } from '../../api/annotations/pod-networks.ts';
import type { ScopedNad } from '../../api/attachment-scope.ts';
import type { ForeignConf } from '../../api/foreign-conf.ts';
import { nadKey } from '../../api/names.ts';
import type { Cidr } from '../../net/cidr.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import type { NetworkFact, PodFact } from './facts.ts';
import type { View } from './view.ts';

/** What a pod's annotation says of one network beside its primary one; the attachment that follows has the same `nadKey` and `interfaceName`. */
export type Selection = SelectedNetwork;

/** A network that a pod is to be on, or has an entry of. */
export interface HeldNetwork {
  /** `default`, or the key of the NAD: of the second selection of the same NAD `ns/nad/1`, and so on. */
  readonly nadKey: string;
  readonly network: NetworkFact;
  readonly role: PodNetworkRole;
  /** Who gives the address: the node from `subnets`, or the cluster manager from the network's (`hasClusterIpam`). */
  readonly givenBy: 'node' | 'cluster';
  /** This node's part of the network, when the node gives the address. */
  readonly subnets: readonly Cidr[];
}

export interface Attachment extends HeldNetwork {
  /** Name inside of the pod, unique among its attachments. */
  readonly interfaceName: string;
  /** Of its place: 0 is the default network, then the primary one, then by the position in the annotation, also of what is not ours. */
  readonly index: number;
  /** Of a secondary network: what the pod has asked for. */
  readonly selection?: Selection | undefined;
}

/** A network of another plugin, which the shim runs on the host (ADR 128). */
export interface ForeignAttachment {
  /** As of ours: of the second selection of the same NAD `ns/nad/1`, and so on. */
  readonly nadKey: string;
  readonly interfaceName: string;
  readonly conf: ForeignConf;
  readonly selection: Selection;
}

export interface PodAttachments {
  readonly pod: PodFact;
  /**
   * Empty while `waitingFor` says why. In the order in which they are made: the default network, the primary one of the
   * namespace where it has one, then what the pod selects, as its annotation has it.
   */
  readonly attachments: readonly Attachment[];
  /** In their order, behind all of ours; absent: none. */
  readonly foreign?: readonly ForeignAttachment[] | undefined;
  /** Networks that `pod.networks` has entries of: a pod that runs has ports there, also while it waits, is refused or selects others. */
  readonly held: readonly HeldNetwork[];
  /** A message without a full stop, for example `namespace red has no primary network yet`. */
  readonly waitingFor?: string | undefined;
  /** Why ADD refuses the pod, whatever addresses it has. One that runs already goes on: what it has been given is listed. */
  readonly refused?: string | undefined;
  /** What the pod asks for and does not get, a message each. */
  readonly ignored?: readonly string[] | undefined;
}

/** Addresses that a pod of a network takes to be there. */
export const rangesOf = ({ subnets, joinSubnets }: Pick<NetworkFact, 'subnets' | 'joinSubnets'>): Cidr[] => [
  ...subnets.map(({ cidr }) => cidr),
  ...joinSubnets,
];

/** Every attachment has its entry: its addresses, or only its MAC where the network has no IPAM. */
export const isAddressed = ({ pod, attachments }: PodAttachments): boolean =>
  attachments.length > 0 && attachments.every(({ nadKey }) => pod.networks.has(nadKey));

/**
 * Families whose default route another of the pod's networks has been asked to have (`default-route`), one of another plugin, too:
 * this attachment then gives none.
 */
export const defaultRouteElsewhere = (
  { selected = [] }: Pick<PodFact, 'selected'>,
  { nadKey: own }: Pick<Attachment, 'nadKey'>,
): Family[] => [
  ...new Set(selected.flatMap((other) => (other.nadKey === own ? [] : other.defaultRoute.map(ipFamily)))),
];

/** Whose default routes a pod has asked for (`default-route`). */
export interface DefaultRoute {
  /** In the pod. */
  readonly interfaceName: string;
  /** At most one of each family. */
  readonly gateways: readonly Ip[];
}

/** At most one selection has it. Undefined: the pod has asked for none. */
export const requestedDefaultRoute = ({
  attachments,
  foreign = [],
}: Pick<PodAttachments, 'attachments' | 'foreign'>): DefaultRoute | undefined => {
  const all = [...attachments, ...foreign].flatMap(({ interfaceName, selection }) => ({
    interfaceName,
    gateways: selection?.defaultRoute ?? [],
  }));
  return all.find(({ gateways }) => gateways.length > 0);
};

/** Key of the NAD itself, whichever selection of it this is. */
export const nadOf = ({ namespace, name }: Pick<Selection, 'namespace' | 'name'>): string => nadKey(namespace, name);

/** The NAD of a selection, for the rules of who may use it (`mayAttach` of api/attachment-scope.ts). */
export const scopedNad = (
  selection: Pick<Selection, 'namespace' | 'name'>,
  network: Pick<NetworkFact, 'name' | 'role'>,
  view: Pick<View, 'isHandmadeNad'>,
): ScopedNad => {
  const key = nadOf(selection);
  return {
    key,
    namespace: selection.namespace,
    network: network.name,
    role: network.role === 'secondary' ? 'secondary' : 'primary',
    isHandmade: view.isHandmadeNad(key),
  };
};
