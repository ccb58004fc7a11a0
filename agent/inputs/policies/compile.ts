/** Templates of a policy as rules of the network that its namespace is on. */
import type { Family } from '../../../net/ip.ts';
import type { AclLog, PolicyPeers, PolicyPorts, PolicyRuleFact } from '../../model/policies/facts.ts';
import { peerSetId, ruleId } from '../../model/policies/ids.ts';
import { l4Rules } from './l4-rules.ts';
import {
  EVERY_POD,
  type PortName,
  portNameText,
  type RuleTemplate,
  type Selection,
  type TemplatePeers,
} from './templates.ts';
import type { NamedPort } from './types.ts';

export interface CompiledRule {
  readonly id: string;
  readonly fact: PolicyRuleFact;
  /** The set that it names. */
  readonly set?: PeerSetSpec | undefined;
}

/** Pods of a selection on a network; with a port those that call this number so. */
export interface PeerSetSpec {
  readonly id: string;
  readonly network: string;
  readonly selects: string;
  readonly selection: Selection;
  readonly port?: NamedPort | undefined;
}

export interface RuleSite {
  readonly network: string;
  readonly families: readonly Family[];
  readonly stateless: boolean;
  readonly log: (direction: RuleTemplate['direction']) => AclLog | undefined;
}

/** @param numbersOf which numbers peers have for a named port */
export const compileTemplate = (
  template: RuleTemplate,
  site: RuleSite,
  numbersOf: (selection: Selection, port: PortName) => readonly number[],
): CompiledRule[] => {
  const { direction, peers, ports } = template;
  if (ports === undefined) return rulesFor(template, site, peers, undefined);
  const numbered = ports.numbered.flatMap((l4) => rulesFor(template, site, peers, l4));
  if (direction === 'Ingress') return numbered;
  const selection = namedPeers(peers);
  if (selection === undefined) return numbered;
  const named = ports.named.flatMap((port) =>
    numbersOf(selection, port).flatMap((number) =>
      rulesFor(
        template,
        site,
        { kind: 'pods', selection },
        { protocol: port.protocol, ports: [number] },
        { ...port, port: number },
      ),
    ),
  );
  return [...numbered, ...named];
};

/** The rules of ingress to named ports, by the numbers that a target has for them. */
export const compileForTarget = (
  template: RuleTemplate,
  site: RuleSite,
  targetPorts: readonly NamedPort[],
): CompiledRule[] => {
  const numbered = (template.ports?.named ?? []).flatMap((name) => {
    const term = numberOf(name, targetPorts);
    return term === undefined ? [] : [{ protocol: name.protocol, term }];
  });
  return l4Rules(numbered).flatMap((l4) => rulesFor(template, site, template.peers, l4));
};

/** Of several containers that have a port of the name the first counts, as for Services. */
export const numberOf = ({ name, protocol }: PortName, ports: readonly NamedPort[]): number | undefined =>
  ports.find((port) => port.name === name && port.protocol === protocol)?.port;

/** Whose ports a name is about: blocks have no pods that could say what it means. */
export const namedPeers = (peers: TemplatePeers): Selection | undefined => {
  switch (peers.kind) {
    case 'any':
      return EVERY_POD;
    case 'pods':
      return peers.selection;
    case 'blocks':
      return undefined;
  }
};

const rulesFor = (
  { direction }: RuleTemplate,
  site: RuleSite,
  peers: TemplatePeers,
  l4: PolicyPorts | undefined,
  port?: NamedPort,
): CompiledRule[] => {
  const set = peers.kind === 'pods' ? peerSetOf(site.network, peers.selection, port) : undefined;
  const log = site.log(direction);
  return site.families.flatMap((family): CompiledRule[] => {
    const own = peersFor(family, peers, set);
    if (own === undefined) return [];
    const fact: PolicyRuleFact = {
      network: site.network,
      direction,
      family,
      peers: own,
      ...(l4 && { l4 }),
      ...(site.stateless && { stateless: true }),
      ...(log && { log }),
    };
    return [{ id: ruleId(fact), fact, ...(set && { set }) }];
  });
};

const peersFor = (family: Family, peers: TemplatePeers, set: PeerSetSpec | undefined): PolicyPeers | undefined => {
  if (set !== undefined) return { kind: 'set', set: set.id };
  if (peers.kind !== 'blocks') return { kind: 'any' };
  const blocks = peers.blocks.get(family);
  return blocks && { kind: 'blocks', blocks };
};

export const peerSetOf = (network: string, selection: Selection, port: NamedPort | undefined): PeerSetSpec => {
  const selects = port === undefined ? selection.text : `${selection.text}, port ${portNameText(port)}=${port.port}`;
  return { id: peerSetId(network, selects), network, selects, selection, ...(port && { port }) };
};
