/**
 * Who reaches whom in a cluster, measured with real packets: plan (pure) → run (the only I/O) → evaluate (pure) → matrix
 * (pure). Several pods may have the same address, so that an answer proves nothing by itself: it counts who answered and
 * whose server saw the probe.
 */
import type { PodNetworkRole } from '../../../api/annotations/pod-networks.ts';
import type { Family, Ip } from '../../../net/ip.ts';

export const PROTOCOLS = ['icmp', 'tcp', 'udp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What a pod has on one network. */
export interface Attachment {
  /** Name of the network, for example `red_red`; `default` for the default network. */
  readonly network: string;
  readonly role: PodNetworkRole;
  readonly addresses: readonly Ip[];
}

export interface ReachabilityPod {
  /** `namespace/name` */
  readonly key: string;
  /** What its server answers to `hostname`. */
  readonly hostname: string;
  readonly node: string;
  /** The primary network first. */
  readonly attachments: readonly Attachment[];
}

/** One address of one pod, as another pod tries to reach it. */
export interface Probe {
  /** Unique among all probes of all runs: the server that it reaches records it. */
  readonly nonce: string;
  readonly from: string;
  readonly to: string;
  readonly network: { readonly from: string; readonly to: string };
  /** Of the attachment that the address belongs to. */
  readonly role: PodNetworkRole;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: Ip;
  readonly expected: boolean;
}

/** What the sender saw. */
export interface Answer {
  readonly answered: boolean;
  /** What the server called itself; undefined without an answer and for ICMP. */
  readonly who: string | undefined;
  readonly error: string | undefined;
  readonly tries: number;
}

export interface Outcomes {
  /** By nonce. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** By pod: the nonces that its server saw. */
  readonly seen: ReadonlyMap<string, ReadonlySet<string>>;
}

/** An item of `reachability.json`. */
export interface Reachability {
  /** `namespace/name` */
  readonly from: string;
  readonly to: string;
  /** The primary network of `from`, and the network that `address` belongs to. */
  readonly network: { readonly from: string; readonly to: string };
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: Ip;
  /** Of the pod's interface with this address; `infrastructure-locked` is kubelet's way to pods of primary networks. */
  readonly role: PodNetworkRole;
  readonly expected: boolean;
  readonly observed: boolean;
  /** The server of `to` saw the probe, or one of its tries. */
  readonly delivered: boolean;
  readonly answered: boolean;
  readonly who: string | null;
  readonly error: string | null;
  readonly tries: number;
  /** True for what no probe was meant to find: `to` saw a probe that was meant for another pod. */
  readonly stray: boolean;
}
