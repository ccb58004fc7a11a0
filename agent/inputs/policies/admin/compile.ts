/** Templates of an administrators' policy as rules of one network. */
import type { AdminTier } from '../../../../api/admin-policy/types.ts';
import type { Family, Ip } from '../../../../net/ip.ts';
import type { AdminPeers, AdminRuleFact, PolicyPorts } from '../../../model/policies/facts.ts';
import { adminRuleId, subjectSetId } from '../../../model/policies/ids.ts';
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
  /** Which numbers peers on the site's network have for a named port. */
  numbersOf(selection: Selection, port: PortName): readonly number[];
  nodeAddresses(selectors: readonly CanonicalSelector[], family: Family): readonly Ip[];
}

/** The parts of a policy's subjects that its rules make a difference between: all, and those with a named port of some number. */
export type SubjectPart = NamedPort | undefined;

export const subjectSetOf = (site: Pick<AdminSite, 'network' | 'policy'>, part: SubjectPart): string =>
  subjectSetId({ network: site.network, policy: site.policy, ...(part && { port: partText(part) }) });

export const partText = (part: NamedPort): string => `${portNameText(part)}=${part.port}`;

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
      const rules = (l4: PolicyPorts | undefined, port?: NamedPort) =>
        rulesFor({ template, peers, l4, port, part }, site, surroundings);
      if (part !== undefined) {
        const isNamed = template.direction === 'Ingress' && template.names.includes(part.name);
        return isNamed ? rules({ protocol: part.protocol, ports: [part.port] }) : [];
      }
      return [
        ...template.l4.flatMap((l4) => rules(l4)),
        ...egressPorts(template, peers, surroundings).flatMap((port) =>
          rules({ protocol: port.protocol, ports: [port.port] }, port),
        ),
      ];
    }),
  );

/** Named ports of who receives: of peers each number is a set of its own. */
const egressPorts = (
  { direction, names }: AdminTemplate,
  peers: AdminPeerTemplate,
  { numbersOf }: Surroundings,
): NamedPort[] =>
  direction === 'Ingress' || peers.kind !== 'pods'
    ? []
    : names.flatMap((name) =>
        PROTOCOLS.flatMap((protocol) =>
          numbersOf(peers.selection, { name, protocol }).map((port) => ({ name, protocol, port })),
        ),
      );

interface Piece {
  readonly template: AdminTemplate;
  readonly peers: AdminPeerTemplate;
  readonly l4: PolicyPorts | undefined;
  /** Of the peers. */
  readonly port: NamedPort | undefined;
  readonly part: SubjectPart;
}

const rulesFor = (piece: Piece, site: AdminSite, surroundings: Surroundings): CompiledAdminRule[] => {
  const { template, peers, l4, part } = piece;
  const { network, policy, tier, first } = site;
  const { direction, index, action } = template;
  const set = peers.kind === 'pods' ? peerSetOf(network, peers.selection, piece.port) : undefined;
  const subjects = subjectSetOf(site, part);
  return site.families.flatMap((family): CompiledAdminRule[] => {
    const whom = peersFor(family, peers, set, surroundings);
    if (whom === undefined) return [];
    const fact: AdminRuleFact = {
      ...{ network, direction, family, tier, priority: rulePriority(first, index), action, subjects, peers: whom },
      ...(l4 && { l4 }),
      policy,
    };
    const id = adminRuleId(fact, index, [set?.id ?? peers.kind, l4?.protocol, l4?.ports, subjects]);
    return [{ id, fact, ...(set && { set }) }];
  });
};

/** Undefined: nobody, so that there is no rule. */
const peersFor = (
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
    default:
      return { kind: 'any' };
  }
};

const partOf = (name: PortName, ports: readonly NamedPort[]): NamedPort[] => {
  const port = numberOf(name, ports);
  return port === undefined ? [] : [{ ...name, port }];
};

const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;
