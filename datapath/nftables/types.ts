/**
 * The desired state in our nftables table. Chains, sets and maps have one owner each; elements of sets and maps come from
 * many. Everything is text as `nft list table` prints it (nft(8)).
 */

/** The only table that is ours, and all of it is. */
export const OUR_TABLE = { family: 'inet', name: 'ovn-udn' } as const;

export interface ChainHook {
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  /** As a number: `srcnat` is 100, `dstnat` -100, `mangle` -150. */
  readonly priority: number;
}

export interface Chain {
  readonly name: string;
  /** Absent: a chain to jump to. */
  readonly hook?: ChainHook | undefined;
  readonly comment?: string | undefined;
  /** In order, each one rule, for example `ip saddr 169.254.0.0/17 masquerade`. */
  readonly rules: readonly string[];
}

/** A set, or a map when `value` is there. */
export interface NftSet {
  readonly name: string;
  /** Type of elements, for example `ipv4_addr . inet_proto . inet_service`. */
  readonly type: string;
  /** Type of a map's values: `verdict`, `ipv4_addr . inet_service`. */
  readonly value?: string | undefined;
  /** Elements may be prefixes and ranges. */
  readonly interval?: boolean | undefined;
  readonly comment?: string | undefined;
}

export interface Element {
  /** Name of the set or map. */
  readonly set: string;
  /** `10.0.0.1 . tcp . 80` */
  readonly key: string;
  /** Of a map: `jump udn-mark-0x1001`. */
  readonly value?: string | undefined;
  readonly comment?: string | undefined;
}

export type NftItem =
  | { readonly kind: 'chain'; readonly chain: Chain }
  | { readonly kind: 'set'; readonly set: NftSet }
  | { readonly kind: 'element'; readonly element: Element };

/** What a fragment wants of nftables. */
export interface NftablesFragment {
  readonly items: readonly NftItem[];
}

export const nftItemKey = (item: NftItem): string => {
  switch (item.kind) {
    case 'chain':
      return `chain ${item.chain.name}`;
    case 'set':
      return `set ${item.set.name}`;
    case 'element':
      return `element ${item.element.set} ${item.element.key}`;
  }
};
