/**
 * What a link may send, frame by frame: a base chain of nftables, family netdev, at the link's hook `egress`. The kernel
 * evaluates it in `dev_queue_xmit`, whoever sends: Open vSwitch's kernel datapath and its userspace datapath alike.
 *
 * Rules that are equal for many links are in a chain of their own, to which the base chain of each link jumps: adding a pod
 * takes a few rules, and `nft monitor` reports as few.
 */
import { hash } from 'node:crypto';
import type { Mac } from '../../../net/mac.ts';

/** The table of all filters. Nothing else is in it. */
export const FILTER_TABLE = 'ovn-udn-ports';

/** The kernel refuses a link's filter with EOPNOTSUPP then (net/netfilter/core.c, __nf_register_net_hook). */
export const EGRESS_MISSING =
  'the kernel has no nftables hook egress of family netdev, which filters what pods receive: ' +
  'it needs Linux 5.16 or newer, with CONFIG_NETFILTER_EGRESS';

/** MACs of pods whose interface on the default network is locked, by which filters know them as senders. */
export const LOCKED_SET = 'locked-pods';

/** Chains need a letter first; links of pods begin with any digit. */
const CHAIN_PREFIX = 'to-';
const SHARED_PREFIX = 'shared-';

export const filterChain = (link: string): string => `${CHAIN_PREFIX}${link}`;

/** Undefined for another chain. */
export const linkOfChain = (chain: string | undefined): string | undefined =>
  chain?.startsWith(CHAIN_PREFIX) === true ? chain.slice(CHAIN_PREFIX.length) : undefined;

/** Offsets count from the first byte of the Ethernet header; bytes are hexadecimal. */
export type FrameTest =
  | { readonly at: number; readonly is: string; readonly mask?: string }
  /** One byte. */
  | { readonly at: number; readonly from: number; readonly to: number }
  /** Of the whole frame. */
  | { readonly length: number }
  | { readonly sender: 'locked' | 'not locked' }
  /**
   * By the kernel's own knowledge, not by bytes. `routed`: the IP stack sends it, by a route; what packet sockets send (packet(7)) has none.
   * EOPNOTSUPP where the kernel lacks CONFIG_IP_ROUTE_CLASSID. `process`: a socket of a process of this network namespace sends it.
   * `marked`: it has a mark (socket(7), SO_MARK).
   */
  | { readonly origin: 'routed' | 'process' | 'marked' };

export interface FrameRule<Verdict extends string = 'accept' | 'drop'> {
  /** All have to pass; none: every frame. */
  readonly tests: readonly FrameTest[];
  readonly verdict: Verdict;
}

/** `return`: the link's own rules decide. */
export type SharedRule = FrameRule<'accept' | 'drop' | 'return'>;

/** Rules of many links. Never changed under its name, which follows from them. */
export interface SharedChain {
  readonly name: string;
  /** How many rules it has. */
  readonly size: number;
  /** `sharedRules`, as JSON: with each pod they go from thread to thread, where hardly ever somebody reads them. */
  readonly json: string;
}

export interface FrameFilter {
  /** Name of the link; there is one filter for each. */
  readonly link: string;
  /** Comes first. */
  readonly shared: SharedChain;
  /** The first that a frame passes decides; what passes none is dropped. */
  readonly rules: readonly FrameRule[];
  /**
   * Who is behind the link. The filter that was put last for a MAC decides whether it is locked; undefined: it is on another
   * network, where MACs are others.
   */
  readonly receiver: { readonly mac: Mac; readonly isLocked: boolean | undefined };
}

export const sharedChain = (rules: readonly SharedRule[]): SharedChain => ({
  name: `${SHARED_PREFIX}${shortHash(rules)}`,
  size: rules.length,
  json: JSON.stringify(rules),
});

/** The first that a frame passes decides; what passes none is for the link's own rules. */
export const sharedRules = ({ json }: SharedChain): readonly SharedRule[] => JSON.parse(json);

export const isSharedChain = (chain: string): boolean => chain.startsWith(SHARED_PREFIX);

/** Filters as the kernel has them. */
export interface ObservedFilters {
  /** What `filterDigest` says, by link. */
  readonly digests: ReadonlyMap<string, string>;
  /** Whether a shared chain has all its rules, by its name. */
  readonly shared: ReadonlyMap<string, boolean>;
  readonly lockedMacs: ReadonlySet<Mac>;
}

/** What is to go, when the filters of all links are given: those that have waited for a link since it went away (Linux 6.16) do. */
export interface NeedlessFilters {
  /** Shared chains that no filter needs. To be refused one that the host's ports need takes the kernel a while. */
  readonly shared: boolean;
  /** MACs of all locked pods: others are none's. Undefined: it is not known. */
  readonly lockedMacs?: readonly Mac[] | undefined;
}

export const NO_FILTERS: ObservedFilters = { digests: new Map(), shared: new Map(), lockedMacs: new Set() };

/**
 * Differs when rules do. The chain's comment, with how many rules the chain has: the kernel itself does not give rules back
 * in the form that they were put.
 */
export const filterDigest = ({ shared, rules }: Pick<FrameFilter, 'shared' | 'rules'>): string =>
  `${shortHash([shared.name, rules])}/${rules.length + 1}`;

export const sharedDigest = ({ name, size }: SharedChain): string => `${name}/${size}`;

export const isFilterCurrent = (filter: FrameFilter, { digests, shared, lockedMacs }: ObservedFilters): boolean => {
  const { mac, isLocked } = filter.receiver;
  return (
    digests.get(filter.link) === filterDigest(filter) &&
    shared.get(filter.shared.name) === true &&
    (isLocked === undefined || lockedMacs.has(mac) === isLocked)
  );
};

const shortHash = (value: unknown): string => hash('sha256', JSON.stringify(value), 'hex').slice(0, 16);
