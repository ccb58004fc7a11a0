/**
 * Ids of what policies are made of, and the names of their rows. Selectors and blocks are a tenant's words: names are of SHA-256 and not
 * of `hashedName`, whose 64 bits of FNV anyone can make collide, and a row whose name is taken cannot be inserted.
 */
import { hash } from 'node:crypto';
import { memo } from '../../../base/memo.ts';
import type { Family } from '../../../net/ip.ts';
import type {
  AdminRuleFact,
  DenyGroupFact,
  DomainSetFact,
  PolicyDirection,
  PolicyRuleFact,
  SubjectSetFact,
} from './facts.ts';

/** Of two rules that are the same it is the same. */
export const ruleId = ({ network, direction, family, peers, l4, stateless, log }: PolicyRuleFact): string =>
  digest([
    network,
    direction,
    family,
    peers.kind === 'any' ? 'any' : peers.kind === 'set' ? peers.set : peers.blocks,
    l4 === undefined ? 'all' : [l4.protocol, l4.ports ?? 'all'],
    stateless === true,
    log === undefined ? 'unlogged' : [log.name, log.severity],
  ]);

/** @param selects the selectors in canonical form */
export const peerSetId = (network: string, selects: string): string => digest([network, selects]);

export const domainSetId = ({ network, name, isForFirewalls = false }: DomainSetFact): string =>
  digest(['domain', network, name, ...(isForFirewalls ? ['firewall'] : [])]);

export const denyGroupId = ({ network, log }: DenyGroupFact): string =>
  digest(log === undefined ? [network] : [network, log.namespace, log.severity]);

export const subjectSetId = ({
  network,
  policy,
  port = '',
}: Pick<SubjectSetFact, 'network' | 'policy' | 'port'>): string => digest(['subjects', network, policy, port]);

/**
 * It stays while what a rule says changes, or which nodes there are: a row that changes costs less than one that is replaced.
 * @param index of the rule in its policy
 * @param part which of the rule's peers and ports it has
 */
export const adminRuleId = (
  { policy, network, direction, family }: Pick<AdminRuleFact, 'policy' | 'network' | 'direction' | 'family'>,
  index: number,
  part: readonly unknown[],
): string => digest(['admin', policy, network, direction, family, index, part]);

/**
 * Of a rule of a firewall: another one when what it says changes. A rule that became another in place would be gone where it was before it is
 * where it goes, and after a restart in between nobody would know.
 * @param says what it does with whom, but for addresses of nodes and answers to names
 */
export const firewallRuleId = (
  rule: Pick<AdminRuleFact, 'policy' | 'network' | 'direction' | 'family' | 'subjects'>,
  index: number,
  says: readonly unknown[],
): string => `${rule.subjects.slice(0, FIREWALL_DIGITS)}-${adminRuleId(rule, index, says)}`;

/** What the rules of one firewall on one network have in common; undefined: the rule is not of a firewall. */
export const firewallOf = (rule: string): string | undefined =>
  rule[FIREWALL_DIGITS] === '-' ? rule.slice(0, FIREWALL_DIGITS) : undefined;

/** Two firewalls that have the same by chance, or by intent, are written together. */
const FIREWALL_DIGITS = 16;

/** Names of Address_Set and Port_Group: letters, digits and `_`, not a digit first (ovn-nb(5)). */
export const peerSetName = (set: string, family: Family): string => PEER_SET_NAMES[family](set);
export const blockSetName = (rule: string): string => `a${digest(['blocks', rule])}`;
export const targetSetName = (rule: string): string => targetSetNames(rule);
export const subjectSetName = (set: string, family: Family): string => `a${digest(['subjects', set, family])}`;
export const nodeSetName = (rule: string): string => `a${digest(['nodes', rule])}`;
export const domainSetName = (set: string, family: Family): string => `a${digest(['domains', set, family])}`;
export const denyGroupName = (group: string, direction: PolicyDirection): string =>
  `a${digest(['deny', group, direction])}`;

/** Each member of a set needs its name. */
const MAX_NAMES = 8192;
const peerSetNames = (family: Family) => memo((set) => `a${digest(['peers', set, family])}`, MAX_NAMES);
const PEER_SET_NAMES = { 4: peerSetNames(4), 6: peerSetNames(6) };
const targetSetNames = memo((rule) => `a${digest(['targets', rule])}`, MAX_NAMES);

const digest = (parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
