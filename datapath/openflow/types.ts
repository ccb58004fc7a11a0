/**
 * Flows as desired: ports by name, so that rendering needs no port numbers. Fields and actions are called and
 * written as in ovs-fields(7) and ovs-actions(7), in the form in which `ovs-ofctl dump-flows` prints them.
 */

/** The port of the bridge itself. */
export const LOCAL_PORT = 'LOCAL';

/** A field → its value as ovs-ofctl prints it; `true` for a protocol, for example `{ ip: true, nw_dst: '10.0.0.1' }`. */
export type Match = Readonly<Record<string, string | true>>;

/** An action as ovs-ofctl prints it, or an output to a port that is looked up by name. */
export type Action = string | { readonly output: string };

export interface Flow {
  readonly table: number;
  readonly priority: number;
  readonly cookie: bigint;
  /** Name of a port, or `LOCAL`. */
  readonly inPort?: string | undefined;
  readonly match: Match;
  /** None: drop. */
  readonly actions: readonly Action[];
  /** Ports that it names come and go with what others do: while one is not there nothing is missing. */
  readonly mayLackPort?: true | undefined;
}

/** A group of type `all`: a packet goes to every bucket. Its buckets are desired one by one, each by who needs it. */
export interface Group {
  readonly id: number;
}

export interface Bucket {
  readonly group: number;
  /** Unique in the group. */
  readonly id: number;
  readonly actions: readonly Action[];
}

/** A port that floods do not reach (`ovs-ofctl mod-port PORT no-flood`). */
export interface NoFloodPort {
  readonly port: string;
}

/** Something that is desired on a bridge. */
export type BridgeItem = { readonly bridge: string } & (
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'bucket'; readonly bucket: Bucket }
  | { readonly kind: 'noFlood'; readonly noFlood: NoFloodPort }
);

/** What a fragment wants of bridges. */
export interface OpenflowFragment {
  readonly items: readonly BridgeItem[];
}

/** Table, priority and match are what makes a flow the same flow: another one with these replaces it. */
export const bridgeItemKey = (item: BridgeItem): string => {
  switch (item.kind) {
    case 'flow':
      return `flow ${item.bridge} ${item.flow.table} ${item.flow.priority} ${matchKey(item.flow)}`;
    case 'group':
      return `group ${item.bridge} ${item.group.id}`;
    case 'bucket':
      return `bucket ${item.bridge} ${item.bucket.group} ${item.bucket.id}`;
    case 'noFlood':
      return `no-flood ${item.bridge} ${item.noFlood.port}`;
  }
};

const matchKey = ({ inPort, match }: Flow): string =>
  [
    ...(inPort === undefined ? [] : [`in_port=${inPort}`]),
    ...Object.entries(match)
      .map(([field, value]) => (value === true ? field : `${field}=${value}`))
      .sort(),
  ].join(',');
