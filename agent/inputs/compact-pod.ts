/**
 * A Pod as network policies see it, in little memory: a node holds one for every pod of the cluster. What pods of a Deployment have in common
 * is one object of theirs, an address is a text, and what reads it as maps and lists makes these anew.
 */
import type { Labels } from '../../api/label-selector.ts';
import { SingleMap } from '../../base/single-map.ts';
import { WeakPool } from '../../base/weak-pool.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import { EntryItself } from '../../kube/reflector/entry.ts';
import type { Ip } from '../../net/ip.ts';
import type { NamedPort, PolicyPod } from './policies/types.ts';

/** What many pods have in common. */
export interface PodKind extends Pick<PolicyPod, 'namespace' | 'isLocal' | 'isHost' | 'finished'> {
  readonly labels: Labels;
  readonly ports: readonly NamedPort[];
}

/** A kind with the only NAD by which its pods have addresses; absent where these are none or of several. */
interface AddressedKind extends PodKind {
  readonly nad: string | undefined;
}

/** Of annotations that are not kept. */
export interface PodDigest {
  readonly high: number;
  readonly low: number;
}

export type PeerAddresses = PolicyPod['addresses'];

export const NO_ADDRESSES: PeerAddresses = new Map();

/** Its fields are not private: comparisons look at them. */
export class CompactPod extends EntryItself implements PolicyPod {
  readonly kind: AddressedKind;
  readonly node: string | undefined;
  /** On the one network; all by NAD key where there are several. */
  readonly ips: Ip | readonly Ip[] | PeerAddresses;
  readonly digestHigh: number | undefined;
  readonly digestLow: number | undefined;

  constructor(kind: PodKind, node: string | undefined, addresses: PeerAddresses, digest?: PodDigest) {
    super();
    const [only] = addresses;
    const isSingle = only !== undefined && addresses.size === 1;
    this.kind = internedKind(kind, isSingle ? only[0] : undefined);
    this.node = node;
    this.ips = isSingle ? packed(only[1]) : addresses;
    this.digestHigh = digest?.high;
    this.digestLow = digest?.low;
  }

  /** A pod of which nothing but this is kept is all of its parts. */
  get pod(): undefined {
    return undefined;
  }

  get policyPod(): this {
    return this;
  }

  get namespace(): string {
    return this.kind.namespace;
  }

  get labels(): Labels {
    return this.kind.labels;
  }

  get isLocal(): boolean {
    return this.kind.isLocal;
  }

  get isHost(): true | undefined {
    return this.kind.isHost;
  }

  get finished(): boolean {
    return this.kind.finished;
  }

  get ports(): readonly NamedPort[] {
    return this.kind.ports;
  }

  get addresses(): PeerAddresses {
    const { ips } = this;
    const { nad } = this.kind;
    if (nad === undefined) return ips as PeerAddresses;
    return new SingleMap(nad, typeof ips === 'string' ? [ips] : (ips as readonly Ip[]));
  }

  hasDigest(digest: PodDigest | undefined): boolean {
    return this.digestHigh === digest?.high && this.digestLow === digest?.low;
  }
}

/** Whether policies see no difference. */
export const samePolicyPod = (a: PolicyPod, b: PolicyPod): boolean =>
  a === b ||
  (a.node === b.node &&
    a.finished === b.finished &&
    a.isLocal === b.isLocal &&
    a.isHost === b.isHost &&
    a.namespace === b.namespace &&
    jsonEqual(a.labels, b.labels) &&
    jsonEqual(a.ports, b.ports) &&
    jsonEqual([...a.addresses], [...b.addresses]));

/** As it is, with other addresses. */
export const withAddresses = (
  { namespace, labels, isLocal, node, finished, ports, isHost }: Omit<PolicyPod, 'addresses'>,
  addresses: PeerAddresses,
): PolicyPod => ({ namespace, labels, isLocal, isHost, node, finished, addresses, ports });

const packed = (ips: readonly Ip[]): Ip | readonly Ip[] => {
  const [only] = ips;
  return only !== undefined && ips.length === 1 ? only : ips;
};

const KINDS = new WeakPool<AddressedKind>(
  (a, b) =>
    a.namespace === b.namespace &&
    a.labels === b.labels &&
    a.isLocal === b.isLocal &&
    a.isHost === b.isHost &&
    a.finished === b.finished &&
    a.ports === b.ports &&
    a.nad === b.nad,
);

/** @param kind with equal labels and ports as one object already */
const internedKind = (
  { namespace, labels, isLocal, isHost, finished, ports }: PodKind,
  nad: string | undefined,
): AddressedKind => {
  const kind = { namespace, labels, isLocal, isHost, finished, ports, nad };
  return KINDS.one(kind, JSON.stringify(kind));
};
