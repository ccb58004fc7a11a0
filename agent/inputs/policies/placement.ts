/** On which network a namespace's pods are, and which of their addresses count there. */

import { mayAttach } from '../../../api/attachment-scope.ts';
import { DEFAULT_NETWORK_NAME, nadKey, parseNadKey } from '../../../api/names.ts';
import { networkFamilies } from '../../../api/network.ts';
import { type Cidr, cidrContainsIp, cidrFamily } from '../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import { scopedNad } from '../../model/attachments.ts';
import type { FactStore } from '../../model/fact-store.ts';
import { hasTargetGroups } from '../../model/policies/target-groups.ts';
import type { TrackedView } from '../../model/tracked-view.ts';
import type { View } from '../../model/view.ts';
import { hostPeers } from './host-peers.ts';
import type { PolicyPod } from './types.ts';
import { type ReadFailure, Watched } from './watched.ts';

/** Where pods of a namespace are targets. */
export interface Site {
  /** Absent while the namespace waits for its primary network: its pods have no port there yet. */
  readonly network: string | undefined;
  /** Of its pods; empty while the network is unknown. */
  readonly families: readonly Family[];
  /** Whether an address of the default network makes its pods peers there, and is not only for the infrastructure. */
  readonly isOnDefault: boolean;
  /** A secondary network without IPAM: nobody there is known by an address. */
  readonly hasNoIpam?: true | undefined;
}

interface Attachment {
  readonly network: string;
  readonly subnets: readonly Cidr[];
  /** Each node has a part of the subnets, and gives addresses of it only. */
  readonly isByNode: boolean;
}

interface PlacedPods {
  /** Of the pods. */
  readonly namespace: string;
  /** The secondary network whose attachments are targets; absent: the network of the namespace. */
  readonly secondary?: string | undefined;
}

interface PlacementOptions {
  readonly facts: FactStore;
  readonly view: TrackedView;
  readonly onChange: (failure?: ReadFailure) => void;
}

/** The networks that one namespace's pods can have addresses on. */
export class Placement {
  readonly #namespace: string;
  readonly #facts: FactStore;
  readonly #view: TrackedView;
  readonly #site: Watched<Site>;
  readonly #onChange: (failure?: ReadFailure) => void;
  readonly #secondary: string | undefined;
  /** By NAD key, of its pods' addresses. */
  readonly #attachments = new Map<string, { readonly watched: Watched<Attachment | undefined>; uses: number }>();

  /** By network, then by node: of nodes with its pods. */
  readonly #nodeSubnets = new Map<string, Map<string, Watched<readonly Cidr[]>>>();

  /** By name, of nodes with its host-network pods. */
  readonly #hosts = new Map<string, Watched<readonly Ip[]>>();

  /** @param onChange its pods are elsewhere now, or their addresses are; with a failure it is not known where */
  constructor({ namespace, secondary }: PlacedPods, { facts, view, onChange }: PlacementOptions) {
    this.#namespace = namespace;
    this.#secondary = secondary;
    this.#facts = facts;
    this.#view = view;
    this.#onChange = onChange;
    const read = (known: View): Site =>
      secondary === undefined ? siteOf(namespace, known) : siteOfAttachments(secondary, known);
    this.#site = new Watched(facts, view, read, onChange);
  }

  get site(): Site {
    return this.#site.value;
  }

  /** A pod has addresses under these keys, so that they are looked at. */
  use(nadKeys: Iterable<string>): void {
    for (const key of nadKeys) {
      const known = this.#attachments.get(key);
      if (known !== undefined) known.uses += 1;
      else this.#attachments.set(key, { watched: this.#watch(key), uses: 1 });
    }
  }

  unuse(nadKeys: Iterable<string>): void {
    for (const key of nadKeys) {
      const known = this.#attachments.get(key);
      if (known === undefined) continue;
      known.uses -= 1;
      if (known.uses > 0) continue;
      known.watched.stop();
      this.#attachments.delete(key);
    }
  }

  /** Networks on which addresses of a pod count, each once. Nodes are on the default one only: the others are isolated from them. */
  networksOf({ addresses, isHost }: Pick<PolicyPod, 'addresses' | 'isHost'>): readonly string[] {
    if (isHost === true) return this.#site.value.isOnDefault ? [DEFAULT_NETWORK_NAME] : [];
    const names: string[] = [];
    for (const key of addresses.keys()) {
      const network = this.#attachment(key)?.network;
      if (network !== undefined && !names.includes(network)) names.push(network);
    }
    return names;
  }

  /** False: none of its pods has an address on the network. */
  mayBeOn(network: string): boolean {
    if (network === DEFAULT_NETWORK_NAME && this.#site.value.isOnDefault) return true;
    return this.#attachments.values().some(({ watched }) => watched.value?.network === network);
  }

  /** Those that are of the network's own subnets; on layer 3 of those of the pod's node, once it has some. */
  addressesOn(network: string, pod: Pick<PolicyPod, 'addresses' | 'node' | 'isHost'>): readonly Ip[] {
    const { addresses, node } = pod;
    if (pod.isHost === true)
      return node === undefined || !this.networksOf(pod).includes(network) ? [] : this.#addressesOf(node);
    const parts: (readonly Ip[])[] = [];
    for (const [key, ips] of addresses) {
      const attachment = this.#attachment(key);
      if (attachment?.network !== network) continue;
      const ofNode = attachment.isByNode && node !== undefined ? this.#subnetsOf(node, network) : [];
      const isOwn = (ip: Ip): boolean =>
        isIn(attachment.subnets, ip) &&
        (!ofNode.some((subnet) => cidrFamily(subnet) === ipFamily(ip)) || isIn(ofNode, ip));
      // Usually the list itself, which is held once.
      parts.push(ips.every(isOwn) ? ips : ips.filter(isOwn));
    }
    return parts.length === 1 ? (parts[0] ?? []) : parts.flat();
  }

  /** Of a node as a peer of pods on the default network: they see its management port's as a source, and send to the others. */
  #addressesOf(node: string): readonly Ip[] {
    const known = this.#hosts.get(node);
    if (known !== undefined) return known.value;
    const watched = new Watched(this.#facts, this.#view, (view) => hostPeers(node, view), this.#onChange);
    this.#hosts.set(node, watched);
    return watched.value;
  }

  stop(): void {
    this.#site.stop();
    for (const watched of this.#hosts.values()) watched.stop();
    this.#hosts.clear();
    for (const { watched } of this.#attachments.values()) watched.stop();
    this.#attachments.clear();
    for (const ofNodes of this.#nodeSubnets.values()) for (const watched of ofNodes.values()) watched.stop();
    this.#nodeSubnets.clear();
  }

  #attachment(key: string): Attachment | undefined {
    if (key === DEFAULT_NETWORK_NAME && !this.#site.value.isOnDefault) return undefined;
    return this.#attachments.get(key)?.watched.value;
  }

  #subnetsOf(node: string, network: string): readonly Cidr[] {
    const ofNodes = this.#nodeSubnets.get(network) ?? new Map<string, Watched<readonly Cidr[]>>();
    const known = ofNodes.get(node);
    if (known !== undefined) return known.value;
    const read = (view: View): readonly Cidr[] => view.nodeSubnets(node, network);
    const watched = new Watched(this.#facts, this.#view, read, this.#onChange);
    this.#nodeSubnets.set(network, ofNodes.set(node, watched));
    return watched.value;
  }

  #watch(key: string): Watched<Attachment | undefined> {
    const pods = { namespace: this.#namespace, secondary: this.#secondary };
    return new Watched(this.#facts, this.#view, (view) => attachmentOf(key, pods, view), this.#onChange);
  }
}

const isIn = (subnets: readonly Cidr[], ip: Ip): boolean => subnets.some((subnet) => cidrContainsIp(subnet, ip));

/** A namespace whose object is gone while its pods are not stays where its NAD says, and isolated. */
const siteOf = (name: string, view: View): Site => {
  const namespace = view.namespace(name);
  const primary = namespace?.wantsPrimaryNetwork === false ? undefined : view.primaryNad(name)?.network;
  const network = primary ?? (namespace?.wantsPrimaryNetwork === true ? undefined : DEFAULT_NETWORK_NAME);
  const known = network === undefined ? undefined : view.network(network);
  return {
    network,
    families: known === undefined ? [] : networkFamilies(known),
    isOnDefault: namespace?.wantsPrimaryNetwork === false,
  };
};

/** Without IPAM a rule may be of either family: who is in a network is not known by addresses. */
const siteOfAttachments = (name: string, view: View): Site => {
  const network = view.network(name);
  if (network === undefined || network.role !== 'secondary') return NOWHERE;
  return hasTargetGroups(network)
    ? { network: name, families: FAMILIES, isOnDefault: false, hasNoIpam: true }
    : { network: name, families: networkFamilies(network), isOnDefault: false };
};

const NOWHERE: Site = { network: undefined, families: [], isOnDefault: false };

/**
 * Undefined: of no network that is known, or by a NAD by which no pod of the namespace is attached to be a peer: primary networks have one of
 * the namespace itself.
 */
const attachmentOf = (key: string, { namespace, secondary }: PlacedPods, view: View): Attachment | undefined => {
  const nad = parseNadKey(key);
  if (secondary === undefined && key !== DEFAULT_NETWORK_NAME && nad?.namespace !== namespace) return undefined;
  const network =
    nad === undefined ? view.network(DEFAULT_NETWORK_NAME) : view.networkOfNad(nadKey(nad.namespace, nad.name));
  if (network === undefined) return undefined;
  if (secondary !== undefined) {
    if (nad === undefined || network.name !== secondary || network.role !== 'secondary') return undefined;
    if (!mayAttach(scopedNad(nad, network, view), namespace, view.cluster)) return undefined;
  }
  const subnets = network.subnets.map(({ cidr }) => cidr);
  return { network: network.name, subnets, isByNode: network.topology === 'layer3' };
};
