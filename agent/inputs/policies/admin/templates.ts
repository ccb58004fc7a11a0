/** What an administrators' policy says, before it is known on which networks its subjects are. */
import type { AdminAction, AdminPeer, AdminPolicy, AdminRule } from '../../../../api/admin-policy/types.ts';
import type { Cidr } from '../../../../net/cidr.ts';
import { prefixesOf } from '../../../../net/cidr-blocks.ts';
import type { DomainName } from '../../../../net/domain-name.ts';
import { FAMILIES, type Family } from '../../../../net/ip.ts';
import type { PolicyDirection, PolicyPorts } from '../../../model/policies/facts.ts';
import { type CanonicalSelector, canonicalSelector } from '../canonical-selector.ts';
import { l4Rules } from '../l4-rules.ts';
import { MAX_PREFIXES, type Selection, selectionOf } from '../templates.ts';

export interface AdminTemplate {
  readonly direction: PolicyDirection;
  /** In its list: the lowest that matches decides. */
  readonly index: number;
  readonly action: AdminAction;
  readonly peers: readonly AdminPeerTemplate[];
  /** One rule for each item; undefined: all traffic. */
  readonly l4: readonly (PolicyPorts | undefined)[];
  /** Names of ports, of any protocol. */
  readonly names: readonly string[];
}

export type AdminPeerTemplate =
  | { readonly kind: 'any' }
  | { readonly kind: 'pods'; readonly selection: Selection }
  | { readonly kind: 'blocks'; readonly blocks: ReadonlyMap<Family, readonly Cidr[]> }
  /** All that one of these selects. */
  | { readonly kind: 'nodes'; readonly selectors: readonly CanonicalSelector[] }
  /** What one of these stands for; at least one, sorted. */
  | { readonly kind: 'domains'; readonly names: readonly DomainName[] };

export const adminTemplates = ({ ingress, egress }: Pick<AdminPolicy, 'ingress' | 'egress'>): AdminTemplate[] => [
  ...ingress.map((rule, index) => templateOf('Ingress', rule, index)),
  ...egress.map((rule, index) => templateOf('Egress', rule, index)),
];

const templateOf = (direction: PolicyDirection, { action, peers, ports }: AdminRule, index: number): AdminTemplate => {
  const numbered = ports.flatMap((port) =>
    port.kind === 'number' ? [{ protocol: port.protocol, term: port.port }] : [],
  );
  return {
    ...{ direction, index, action, peers: peersOf(peers) },
    l4: ports.length === 0 ? [undefined] : l4Rules(numbered),
    names: [...new Set(ports.flatMap((port) => (port.kind === 'name' ? [port.name] : [])))],
  };
};

const peersOf = (peers: readonly AdminPeer[]): AdminPeerTemplate[] => {
  if (peers.some(({ kind }) => kind === 'any')) return [{ kind: 'any' }];
  const selections = new Map<string, Selection>();
  for (const peer of peers) {
    const selection = peer.kind === 'pods' ? selectionOf(peer, '') : undefined;
    if (selection !== undefined) selections.set(selection.text, withoutHosts(selection));
  }
  const blocks = blocksOf(peers.flatMap((peer) => (peer.kind === 'networks' ? peer.blocks : [])));
  const selectors = peers.flatMap((peer) => (peer.kind === 'nodes' ? [canonicalSelector(peer.nodes)] : []));
  const names = [...new Set(peers.flatMap((peer) => (peer.kind === 'domains' ? peer.names : [])))].sort();
  return [
    ...[...selections.values()].map((selection) => ({ kind: 'pods', selection }) as const),
    ...(blocks.size === 0 ? [] : [{ kind: 'blocks', blocks } as const]),
    ...(selectors.length === 0 ? [] : [{ kind: 'nodes', selectors } as const]),
    ...(names.length === 0 ? [] : [{ kind: 'domains', names } as const]),
  ];
};

/** The API: "host-networked pods are not included". A set of its own, then, where a NetworkPolicy has the same selectors. */
const withoutHosts = ({ text, ...selection }: Selection): Selection => ({
  ...{ ...selection, text: `${text}, not of the host network`, hosts: false },
});

/** Without families that have none. A union has no more prefixes than its parts, of which the API allows few enough. */
const blocksOf = (cidrs: readonly Cidr[]): ReadonlyMap<Family, readonly Cidr[]> => {
  const all = cidrs.map((cidr) => ({ cidr, except: [] }));
  return new Map(
    FAMILIES.map((family) => [family, prefixesOf(family, all, MAX_PREFIXES) ?? []] as const).filter(
      ([, blocks]) => blocks.length > 0,
    ),
  );
};
