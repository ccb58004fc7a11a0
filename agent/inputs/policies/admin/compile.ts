/** Templates of an administrators' policy as rules of one network. */
import type { AdminAction, AdminTier } from '../../../../api/admin-policy/types.ts';
import type { DomainName } from '../../../../net/domain-name.ts';
import type { Family, Ip } from '../../../../net/ip.ts';
import type {
  AdminPeers,
  AdminRuleFact,
  DomainSetFact,
  PolicyPorts,
  PolicyProtocol,
} from '../../../model/policies/facts.ts';
import { adminRuleId, domainSetId, firewallRuleId, subjectSetId } from '../../../model/policies/ids.ts';
import type { CanonicalSelector } from '../canonical-selector.ts';
import { numberOf, type PeerSetSpec, peerSetOf } from '../compile.ts';
import { type PortName, portNameText, type Selection } from '../templates.ts';
import type { NamedPort } from '../types.ts';
import { rulePriority } from './places.ts';
import type { AdminPeerTemplate, AdminTemplate } from './templates.ts';

export interface CompiledAdminRule {
  readonly id: string;
  readonly fact: AdminRuleFact;
  /** The set of peers that it names. */
  readonly set?: PeerSetSpec | undefined;
  /** Those that it names, none where there are none. */
  readonly domains: readonly DomainSetFact[];
}

export interface AdminSite {
  readonly policy: string;
  readonly tier: AdminTier;
  /** OVN's priority of the policy's first rule. */
  readonly first: number;
  readonly network: string;
  readonly families: readonly Family[];
}

/** What rules depend on that is not their policy's. */
export interface Surroundings {
  /** Which numbers peers on the site's network have for a named port, and whether these are not all. */
  numbersOf(selection: Selection, port: PortName): { readonly numbers: readonly number[]; readonly isMore: boolean };
  nodeAddresses(selectors: readonly CanonicalSelector[], family: Family): readonly Ip[];
}

/**
 * The parts of a policy's subjects that its rules make a difference between: all, those with a named port of some number, and those with
 * numbers that are too many to be told apart.
 */
export type SubjectPart = NamedPort | OtherPorts | undefined;

interface OtherPorts {
  readonly protocol: PolicyProtocol;
  readonly others: true;
}

export const subjectSetOf = (site: Pick<AdminSite, 'network' | 'policy'>, part: SubjectPart): string =>
  subjectSetId({ network: site.network, policy: site.policy, ...(part && { port: partText(part) }) });

export const partText = (part: NamedPort | OtherPorts): string =>
  'others' in part ? `others/${part.protocol}` : `${portNameText(part)}=${part.port}`;

/** The names of ports that subjects differ by. */
export const subjectNames = (templates: readonly AdminTemplate[]): readonly string[] => [
  ...new Set(templates.flatMap((template) => (template.direction === 'Ingress' ? template.names : []))),
];

/** The parts that a pod with these ports is in, but for the whole. */
export const partsOf = (names: readonly string[], ports: readonly NamedPort[]): NamedPort[] =>
  names.flatMap((name) => PROTOCOLS.flatMap((protocol) => partOf({ name, protocol }, ports)));

export const compileAdmin = (
  templates: readonly AdminTemplate[],
  part: SubjectPart,
  site: AdminSite,
  surroundings: Surroundings,
): CompiledAdminRule[] =>
  templates.flatMap((template) =>
    template.peers.flatMap((peers) => {
      const pieces = part === undefined ? wholePieces(template, peers, surroundings) : partPieces(template, part);
      return pieces.flatMap((piece) => rulesFor({ template, peers, part, ...piece }, site, surroundings));
    }),
  );

const partPieces = ({ direction, names, action }: AdminTemplate, part: NamedPort | OtherPorts): PortPiece[] => {
  const { protocol } = part;
  if (direction === 'Egress') return [];
  if ('others' in part) return names.length === 0 ? [] : closed(action, protocol);
  return names.includes(part.name) ? [{ action, l4: { protocol, ports: [part.port] } }] : [];
};

const wholePieces = (template: AdminTemplate, peers: AdminPeerTemplate, surroundings: Surroundings): PortPiece[] => [
  ...template.l4.map((l4) => ({ action: template.action, l4 })),
  ...egressPieces(template, peers, surroundings),
];

/** Named ports of who receives: of peers each number is a set of its own. */
const egressPieces = (
  { direction, names, action }: AdminTemplate,
  peers: AdminPeerTemplate,
  { numbersOf }: Surroundings,
): PortPiece[] => {
  if (direction === 'Ingress' || peers.kind !== 'pods') return [];
  return names.flatMap((name) =>
    PROTOCOLS.flatMap((protocol) => {
      const { numbers, isMore } = numbersOf(peers.selection, { name, protocol });
      if (isMore && action !== 'allow') return closed(action, protocol);
      return numbers.map((number) => ({
        ...{ action, l4: { protocol, ports: [number] } },
        port: { name, protocol, port: number },
      }));
    }),
  );
};

/**
 * Where not all numbers of a port are known to a rule. One that passes denies too: to pass all of the protocol would skip what denies behind
 * it, and not to pass would let through what is allowed there.
 */
const closed = (action: AdminAction, protocol: PolicyProtocol): PortPiece[] =>
  action === 'allow' ? [] : [{ action: 'deny', l4: { protocol } }];

interface PortPiece {
  readonly action: AdminAction;
  readonly l4: PolicyPorts | undefined;
  /** Of the peers. */
  readonly port?: NamedPort | undefined;
}

interface Piece extends PortPiece {
  readonly template: AdminTemplate;
  readonly peers: AdminPeerTemplate;
  readonly part: SubjectPart;
}

const rulesFor = (piece: Piece, site: AdminSite, surroundings: Surroundings): CompiledAdminRule[] => {
  const { template, action, peers, l4, part } = piece;
  const { network, policy, tier, first } = site;
  const { direction, index } = template;
  const set = peers.kind === 'pods' ? peerSetOf(network, peers.selection, piece.port) : undefined;
  const subjects = subjectSetOf(site, part);
  return site.families.flatMap((family): CompiledAdminRule[] => {
    const whom = peersFor(site, family, peers, set, surroundings);
    if (whom === undefined) return [];
    const fact: AdminRuleFact = {
      ...{ network, direction, family, tier, priority: rulePriority(first, index), action, subjects, peers: whom },
      ...(l4 && { l4 }),
      policy,
    };
    const about = [set?.id ?? peers.kind, l4?.protocol, l4?.ports, subjects];
    const id =
      tier === 'firewall'
        ? firewallRuleId(fact, index, [...about, action, saidOf(peers, family)])
        : adminRuleId(fact, index, about);
    return [
      { id, fact, domains: peers.kind === 'domains' ? domainsOf(site, peers.names) : NO_DOMAINS, ...(set && { set }) },
    ];
  });
};

/** In the spec's words: which addresses the nodes and the names have changes without it. */
const saidOf = (peers: AdminPeerTemplate, family: Family): unknown => {
  switch (peers.kind) {
    case 'blocks':
      return peers.blocks.get(family);
    case 'nodes':
      return peers.selectors.map(({ text }) => text);
    case 'domains':
      return peers.names;
    default:
      return undefined;
  }
};

/** Undefined: nobody, so that there is no rule. */
const peersFor = (
  site: Pick<AdminSite, 'network' | 'tier'>,
  family: Family,
  peers: AdminPeerTemplate,
  set: PeerSetSpec | undefined,
  { nodeAddresses }: Surroundings,
): AdminPeers | undefined => {
  if (set !== undefined) return { kind: 'set', set: set.id };
  switch (peers.kind) {
    case 'blocks': {
      const blocks = peers.blocks.get(family);
      return blocks && { kind: 'blocks', blocks };
    }
    case 'nodes': {
      const addresses = nodeAddresses(peers.selectors, family);
      return addresses.length === 0 ? undefined : { kind: 'nodes', addresses };
    }
    case 'domains':
      return { kind: 'domains', sets: domainsOf(site, peers.names).map(domainSetId) };
    default:
      return { kind: 'any' };
  }
};

const partOf = (name: PortName, ports: readonly NamedPort[]): NamedPort[] => {
  const port = numberOf(name, ports);
  return port === undefined ? [] : [{ ...name, port }];
};

const domainsOf = (
  { network, tier }: Pick<AdminSite, 'network' | 'tier'>,
  names: readonly DomainName[],
): DomainSetFact[] => names.map((name) => ({ network, name, ...(tier === 'firewall' && { isForFirewalls: true }) }));

const NO_DOMAINS: readonly DomainSetFact[] = [];
const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;
