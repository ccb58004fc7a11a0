/** What a rule lets through, as a match: ovn-sb(5), `match` of Logical_Flow. One family each: both in one multiply their flows (docs/adr/0111). */
import { prefixLength } from '../../../net/cidr.ts';
import type {
  AdminPeers,
  AdminRuleFact,
  PolicyPeers,
  PolicyPorts,
  PolicyRuleFact,
  PortTerm,
} from '../../model/policies/facts.ts';
import {
  blockSetName,
  domainSetName,
  nodeSetName,
  peerSetName,
  subjectSetName,
  targetSetName,
} from '../../model/policies/ids.ts';

/** More prefixes than that are an address set. */
const MAX_INLINE_BLOCKS = 8;

/** @returns undefined for a rule that lets nothing through */
export const ruleMatch = (id: string, rule: PolicyRuleFact): string | undefined =>
  matchOf(rule, peerAddresses(id, rule.peers, rule.family), addressTerm(rule, targetSetName(id)));

/** The same with targets that are known by their ports. @returns undefined for a rule that lets nothing through */
export const portRuleMatch = (id: string, rule: PolicyRuleFact): string | undefined => {
  const port = rule.direction === 'Ingress' ? 'outport' : 'inport';
  const targets = `ip${rule.family} && ${port} == @${targetSetName(id)}`;
  return matchOf(rule, peerAddresses(id, rule.peers, rule.family), targets);
};

/** @returns undefined for a rule that is about nothing */
export const adminRuleMatch = (id: string, rule: AdminRuleFact): string | undefined => {
  const { peers, family, subjects } = rule;
  return matchOf(rule, adminAddresses(id, peers, family), addressTerm(rule, subjectSetName(subjects, family)));
};

const adminAddresses = (id: string, peers: AdminPeers, family: AdminRuleFact['family']): string => {
  switch (peers.kind) {
    case 'nodes':
      return `$${nodeSetName(id)}`;
    case 'domains':
      return setOf(peers.sets.map((set) => `$${domainSetName(set, family)}`));
    default:
      return peerAddresses(id, peers, family);
  }
};

type Matched = Pick<PolicyRuleFact, 'direction' | 'family' | 'l4'>;

const addressTerm = ({ direction, family }: Matched, targets: string): string =>
  `ip${family}.${direction === 'Ingress' ? 'dst' : 'src'} == $${targets}`;

/** @param targets the term of those that it is for */
const matchOf = ({ direction, family, l4 }: Matched, addresses: string, targets: string): string | undefined => {
  const ports = l4 === undefined ? [] : portTerms(l4);
  if (addresses === 'none' || ports === undefined) return undefined;
  const ofPeers = addresses === 'all' ? [] : [`ip${family}.${direction === 'Ingress' ? 'src' : 'dst'} == ${addresses}`];
  // A group is last: before other terms one is of those that drop, with what is let through all the same (cli/policy/in-trace.ts).
  return (targets.includes('@') ? [...ofPeers, ...ports, targets] : [...ofPeers, targets, ...ports]).join(' && ');
};

/** Those that are too many for a match; else none. */
export const blocksInSet = ({ peers }: Pick<AdminRuleFact, 'peers'>): readonly string[] =>
  peers.kind === 'blocks' && peers.blocks.length > MAX_INLINE_BLOCKS ? peers.blocks : [];

const peerAddresses = (id: string, peers: PolicyPeers, family: PolicyRuleFact['family']): string => {
  switch (peers.kind) {
    case 'any':
      return 'all';
    case 'set':
      return `$${peerSetName(peers.set, family)}`;
    case 'blocks': {
      const { blocks } = peers;
      if (blocks.length === 0) return 'none';
      if (blocks.some((block) => prefixLength(block) === 0)) return 'all';
      return blocks.length > MAX_INLINE_BLOCKS ? `$${blockSetName(id)}` : setOf(blocks);
    }
  }
};

/** @returns undefined where there are ports, but none */
const portTerms = ({ protocol, ports }: PolicyPorts): readonly string[] | undefined => {
  if (ports === undefined) return [protocol];
  const numbers = ports.filter((port) => typeof port === 'number');
  const terms = [
    ...(numbers.length === 0 ? [] : [`${protocol}.dst == ${setOf(numbers)}`]),
    ...ports.filter(isRange).map(([first, last]) => `${first} <= ${protocol}.dst <= ${last}`),
  ];
  const [only] = terms;
  if (only === undefined) return undefined;
  return [protocol, terms.length === 1 ? only : `(${terms.join(' || ')})`];
};

const isRange = (port: PortTerm): port is Exclude<PortTerm, number> => typeof port !== 'number';

export const setOf = (elements: readonly (string | number)[]): string =>
  elements.length === 1 ? String(elements[0]) : `{${elements.join(', ')}}`;
