/** What is in our table, as `nft list table` has it. */

export interface TableState {
  /** Flags and a comment of the table: `flags dormant`. Empty when it is as we want it. */
  readonly header: readonly string[];
  readonly chains: Map<string, ChainState>;
  readonly sets: Map<string, SetState>;
  /** Objects of kinds that we never make: counters, flowtables and others. */
  others: readonly OtherObject[];
}

export interface ChainState {
  /** In any order: `type filter hook output priority 0; policy accept;`, `comment "…"`. */
  readonly header: readonly string[];
  readonly rules: readonly string[];
}

export interface SetState {
  readonly kind: 'set' | 'map';
  /** In any order: `type ipv4_addr`, `flags interval`, `comment "…"`, `size 65535`. */
  readonly header: readonly string[];
  /** By key in the form of `element-form.ts`. */
  readonly elements: Map<string, ElementState>;
}

export interface ElementState {
  /** Of a map. */
  readonly value?: string | undefined;
  readonly comment?: string | undefined;
  /** What elements of ours never have: `timeout 5s`. */
  readonly extra?: string | undefined;
}

export interface OtherObject {
  /** As `nft delete` wants it: `counter`, `ct helper`. */
  readonly kind: string;
  readonly name: string;
}

export const emptyTable = (): TableState => ({ header: [], chains: new Map(), sets: new Map(), others: [] });

/** There is one, of which nothing else is known: it can only be deleted. */
export const unreadableTable = (): TableState => ({ ...emptyTable(), header: ['unreadable'] });
