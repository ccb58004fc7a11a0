/**
 * What a link may send, frame by frame: a base chain of nftables, family netdev, at the link's hook `egress`. The kernel
 * evaluates it in `dev_queue_xmit`, whoever sends: Open vSwitch's kernel datapath and its userspace datapath alike.
 */
import { hash } from 'node:crypto';
import type { Mac } from '../../../net/mac.ts';

/** The table of all filters. Nothing else is in it. */
export const FILTER_TABLE = 'ovn-udn-ports';

/** MACs of pods whose interface on the default network is locked, by which filters know them as senders. */
export const LOCKED_SET = 'locked-pods';

/** Chains need a letter first; links of pods begin with any digit. */
const CHAIN_PREFIX = 'to-';

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
  | { readonly sender: 'locked' | 'not locked' };

export interface FrameRule {
  /** All have to pass; none: every frame. */
  readonly tests: readonly FrameTest[];
  readonly verdict: 'accept' | 'drop';
}

export interface FrameFilter {
  /** Name of the link; there is one filter for each. */
  readonly link: string;
  /** The first that a frame passes decides; what passes none is dropped. */
  readonly rules: readonly FrameRule[];
  /**
   * Who is behind the link. The filter that was put last for a MAC decides whether it is locked; undefined: it is on another
   * network, where MACs are others.
   */
  readonly receiver: { readonly mac: Mac; readonly isLocked: boolean | undefined };
}

/** Filters as the kernel has them. */
export interface ObservedFilters {
  /** What `filterDigest` says, by link. */
  readonly digests: ReadonlyMap<string, string>;
  readonly lockedMacs: ReadonlySet<Mac>;
}

export const NO_FILTERS: ObservedFilters = { digests: new Map(), lockedMacs: new Set() };

/** Differs when rules do. The chain's comment; the kernel itself does not give rules back in the form that they were put. */
export const filterDigest = (rules: readonly FrameRule[]): string =>
  `${hash('sha256', JSON.stringify(rules), 'hex').slice(0, 16)}/${rules.length}`;

export const isFilterCurrent = (
  { link, rules, receiver }: FrameFilter,
  { digests, lockedMacs }: ObservedFilters,
): boolean =>
  digests.get(link) === filterDigest(rules) &&
  (receiver.isLocked === undefined || lockedMacs.has(receiver.mac) === receiver.isLocked);
