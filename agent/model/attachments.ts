/** Which networks a pod of this node is to be attached to, and what it has been given so far. */
import type { PodNetworkRole } from '../../api/annotations/pod-networks.ts';
import type { Cidr } from '../../net/cidr.ts';
import type { NetworkFact, PodFact } from './facts.ts';

export interface Attachment {
  /** `default`, or the key of the NAD. */
  readonly nadKey: string;
  readonly network: NetworkFact;
  readonly role: PodNetworkRole;
  /** Name inside of the pod. */
  readonly interfaceName: string;
  /** Who gives the address: the node from `subnets`, or the cluster manager from the network's. */
  readonly givenBy: 'node' | 'cluster';
  /** This node's part of the network, when the node gives the address. */
  readonly subnets: readonly Cidr[];
}

export interface PodAttachments {
  readonly pod: PodFact;
  /** Empty while `waitingFor` says why. The default network comes first. */
  readonly attachments: readonly Attachment[];
  /** A message without a full stop, for example `namespace red has no primary network yet`. */
  readonly waitingFor?: string | undefined;
  /** Why ADD refuses the pod, whatever addresses it has. One that runs already goes on. */
  readonly refused?: string | undefined;
  /** What the pod asks for and does not get, a message each. */
  readonly ignored?: readonly string[] | undefined;
}

/** Every attachment has its addresses. */
export const isAddressed = ({ pod, attachments }: PodAttachments): boolean =>
  attachments.length > 0 && attachments.every(({ nadKey }) => pod.networks.has(nadKey));

/** @param what `red/storage as net1` */
export const secondaryUnsupported = (what: string): string => `secondary networks are not supported yet: ${what}`;
