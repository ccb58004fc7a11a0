/** Rules in words. */
import type { FactStore } from '../../model/fact-store.ts';
import type {
  AdminPeers,
  AdminRuleFact,
  PolicyPeers,
  PolicyPorts,
  PolicyRuleFact,
  PortTerm,
} from '../../model/policies/facts.ts';

type Facts = Pick<FactStore, 'get'>;

/** `from pods app=web, TCP 80` */
export const ruleText = (rule: PolicyRuleFact, facts: Facts): string =>
  `${rule.direction === 'Ingress' ? 'from' : 'to'} ${peersText(rule.peers, facts)}, ${portsText(rule.l4)}`;

/** `from 4 addresses of nodes, all traffic` */
export const adminRuleText = ({ direction, peers, l4 }: AdminRuleFact, facts: Facts): string => {
  return `${direction === 'Ingress' ? 'from' : 'to'} ${adminPeersText(peers, facts)}, ${portsText(l4)}`;
};

const adminPeersText = (peers: AdminPeers, facts: Facts): string => {
  switch (peers.kind) {
    case 'nodes':
      return `${peers.addresses.length} addresses of nodes`;
    case 'domains':
      return listText(
        peers.sets.map((set) => shownDomain(facts.get('domainSet', set)?.name ?? 'a name that is not known')),
      );
    default:
      return peersText(peers, facts);
  }
};

/** As people write it. */
export const shownDomain = (name: string): string => name.replace(/\.$/, '');

export const peersText = (peers: PolicyPeers, facts: Facts): string => {
  switch (peers.kind) {
    case 'any':
      return 'everybody';
    case 'blocks':
      return listText(peers.blocks);
    case 'set':
      return facts.get('peerSet', peers.set)?.selects ?? 'pods of a set that is not known';
  }
};

export const portsText = (l4: PolicyPorts | undefined): string => {
  if (l4 === undefined) return 'all traffic';
  const protocol = l4.protocol.toUpperCase();
  return l4.ports === undefined ? protocol : `${protocol} ${listText(l4.ports.map(termText))}`;
};

const termText = (term: PortTerm): string => (typeof term === 'number' ? String(term) : `${term[0]}-${term[1]}`);

/** A policy may have thousands. */
const MAX_SHOWN = 6;

const listText = (texts: readonly string[]): string =>
  texts.length <= MAX_SHOWN
    ? texts.join(', ')
    : `${texts.slice(0, MAX_SHOWN).join(', ')} and ${texts.length - MAX_SHOWN} more`;
