/** Who asks what of a Service, where, by which way: what the matrix of `rows.ts` is about. */

/** Clients within the cluster are on one node, `here`. A tenant is a namespace with a primary network. */
export const SOURCES = [
  'pod of the network',
  'pod of another tenant',
  'pod of the default network',
  'process of a node',
  'host-network pod of the namespace',
  'outside',
] as const;
export type Source = (typeof SOURCES)[number];

/** Where a packet is sent to. */
export const ENTRY_POINTS = [
  'ClusterIP',
  'node port of its own node',
  'node port of another node',
  'externalIP',
  'address of a load balancer',
] as const;
export type EntryPoint = (typeof ENTRY_POINTS)[number];

/** `externalTrafficPolicy` and `internalTrafficPolicy`. */
export const POLICIES = ['Cluster', 'ETP Local', 'ITP Local'] as const;
export type Policy = (typeof POLICIES)[number];

/**
 * Where endpoints are, as seen from the node that has the entry point: of node ports it, of other addresses the client's,
 * and for clients outside the one that their packets are sent to. The last: host-network pods, on both nodes.
 */
export const ENDPOINT_PLACEMENTS = ['here', 'there', 'both', 'none', 'nodes'] as const;
export type EndpointPlacement = (typeof ENDPOINT_PLACEMENTS)[number];

/** The network of the Service's namespace. */
export const OWNERS = ['layer 3', 'layer 2', 'default'] as const;
export type Owner = (typeof OWNERS)[number];

export const GATEWAY_MODES = ['shared', 'local'] as const;
export const FAMILIES = [4, 6] as const;
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;

/** One combination of all of it. */
export interface Cell {
  readonly from: Source;
  readonly to: EntryPoint;
  readonly policy: Policy;
  readonly endpoints: EndpointPlacement;
  readonly owner: Owner;
  readonly mode: (typeof GATEWAY_MODES)[number];
  readonly family: (typeof FAMILIES)[number];
  readonly protocol: (typeof PROTOCOLS)[number];
}

export const DIMENSIONS: { readonly [Name in keyof Cell]: readonly Cell[Name][] } = {
  from: SOURCES,
  to: ENTRY_POINTS,
  policy: POLICIES,
  endpoints: ENDPOINT_PLACEMENTS,
  owner: OWNERS,
  mode: GATEWAY_MODES,
  family: FAMILIES,
  protocol: PROTOCOLS,
};

/** Every combination, in the order of the dimensions. */
export const allCells = (): Cell[] =>
  (Object.entries(DIMENSIONS) as [keyof Cell, readonly unknown[]][]).reduce<Partial<Cell>[]>(
    (cells, [name, values]) => cells.flatMap((cell) => values.map((value) => ({ ...cell, [name]: value }))),
    [{}],
  ) as Cell[];
