/** The rules that a policy has on a network while pods of this node are its subjects there, as facts. */
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import type { FactWriter } from '../../../model/fact-store.ts';
import type { SubjectSetFact } from '../../../model/policies/facts.ts';
import type { CanonicalSelector } from '../canonical-selector.ts';
import type { DomainSets } from '../domain-table.ts';
import type { PeerTable } from '../peer-table.ts';
import { MAX_NUMBERS, type PortName, portNameText } from '../templates.ts';
import type { SiteSet, SiteState } from './admin-state.ts';
import { type CompiledAdminRule, compileAdmin, partText, type SubjectPart, type Surroundings } from './compile.ts';
import { templatesOf } from './firewall-room.ts';
import type { NodePeers } from './node-peers.ts';
import { movesOf } from './safe-order.ts';
import { setsAt } from './subject-parts.ts';

interface SiteRulesOptions {
  readonly facts: FactWriter;
  readonly peers: PeerTable;
  readonly domains: DomainSets;
  readonly nodes: Pick<NodePeers, 'addressesOf' | 'watchManagement'>;
  /** The numbers of a named port are others now. */
  readonly onChange: (site: SiteState) => void;
  /** Addresses of nodes on the site's network are others now. */
  readonly onOtherNodes: (site: SiteState) => void;
}

export class SiteRules {
  readonly #options: SiteRulesOptions;

  constructor(options: SiteRulesOptions) {
    this.#options = options;
  }

  /**
   * @param first OVN's priority of the policy's first rule; undefined: it has no rules here
   * @param only `parts`: nothing else than which parts there are has changed, and rules of others stay
   */
  compile(site: SiteState, first: number | undefined, only: 'parts' | 'all'): void {
    const sets = setsAt(site);
    const isKept = (id: string): boolean => only === 'parts' && site.sets.has(id);
    const ended = isKept(site.whole) ? [] : site.unwatch;
    const surroundings = this.#surroundings(site, ended);
    try {
      const next = new Map<string, SiteSet>();
      for (const [id, part] of sets) {
        if (isKept(id)) continue;
        const rules = first === undefined ? [] : rulesOf(site, part, first, surroundings);
        next.set(id, { part, rules: new Map(rules.map((rule) => [rule.id, rule])) });
      }
      for (const [id, fact] of movesOf(site, next)) this.#options.facts.set('adminRule', id, fact);
      site.first = first;
      for (const [id, set] of next) this.#install(site, id, set);
      for (const id of [...site.sets.keys()]) if (!sets.has(id)) this.#install(site, id, undefined);
    } finally {
      // Also of what throws midway: it is all compiled again, with watches of its own.
      for (const end of ended) end();
    }
  }

  /** @param ended what is watched no more; otherwise it goes on */
  #surroundings(site: SiteState, ended: readonly (() => void)[]): Surroundings {
    const { peers, nodes, onChange } = this.#options;
    const stale = (): void => onChange(site);
    if (ended === site.unwatch) [site.unwatch, site.notes] = [[], []];
    const managed = new Map<string, readonly Ip[]>();
    return {
      nodeAddresses: (selectors, family) => {
        const own = this.#managementOf(site, selectors, managed).filter((ip) => ipFamily(ip) === family);
        return [...new Set([...nodes.addressesOf(selectors, family), ...own])].sort();
      },
      numbersOf: (selection, port) => {
        const { network } = site;
        site.unwatch.push(() => peers.unwatch(network, selection, port, stale));
        const numbers = peers.watch(network, selection, port, stale);
        const isMore = peers.numbersOf(network, selection, port) > MAX_NUMBERS;
        if (isMore) site.notes.push(manyNumbers(port));
        return { numbers, isMore };
      },
    };
  }

  /** @param known by texts of selectors: many rules select the same nodes, and each does so once per family */
  #managementOf(
    site: SiteState,
    selectors: readonly CanonicalSelector[],
    known: Map<string, readonly Ip[]>,
  ): readonly Ip[] {
    const key = JSON.stringify(selectors.map(({ text }) => text));
    const found = known.get(key);
    if (found !== undefined) return found;
    const { nodes, onOtherNodes } = this.#options;
    const watched = nodes.watchManagement(selectors, site.network, () => onOtherNodes(site));
    site.unwatch.push(() => watched.stop());
    known.set(key, watched.value);
    return watched.value;
  }

  /** @param after undefined: it has no members any more */
  #install(site: SiteState, id: string, after: SiteSet | undefined): void {
    const { facts, peers, domains } = this.#options;
    const known = site.sets.get(id);
    const rules = after?.rules ?? NO_RULES;
    // Rule by rule: what throws midway must not make one count twice.
    const held = new Map(known?.rules);
    site.sets.set(id, { part: after?.part ?? known?.part, rules: held });
    for (const [at, rule] of rules) {
      const before = held.get(at);
      if (rule.set !== undefined && before === undefined) peers.acquire(rule.set, rule.fact.family);
      // A rule keeps its id when its names change; those that stay are not released in between.
      for (const set of rule.domains) domains.acquire(set);
      held.set(at, rule);
      facts.set('adminRule', at, rule.fact);
      this.#releaseDomains(before);
    }
    for (const [at, rule] of held) {
      if (rules.has(at)) continue;
      held.delete(at);
      facts.set('adminRule', at, undefined);
      if (rule.set !== undefined) peers.release(rule.set, rule.fact.family);
      this.#releaseDomains(rule);
    }
    facts.set('subjectSet', id, after && subjectSetFact(site, after));
    if (after === undefined) site.sets.delete(id);
  }

  #releaseDomains(rule: CompiledAdminRule | undefined): void {
    const sets = rule?.fact.peers.kind === 'domains' ? rule.fact.peers.sets : [];
    for (const set of sets) this.#options.domains.release(set);
  }
}

const NO_RULES: SiteSet['rules'] = new Map();

const rulesOf = (
  site: SiteState,
  part: SubjectPart,
  first: number,
  surroundings: Surroundings,
): CompiledAdminRule[] => {
  const {
    state: { key, policy },
    network,
    families,
  } = site;
  return compileAdmin(
    templatesOf(site),
    part,
    { policy: key, tier: policy.tier, first, network, families },
    surroundings,
  );
};

const subjectSetFact = ({ state, network }: SiteState, { part, rules }: SiteSet): SubjectSetFact => {
  const drops = [...rules.values()].filter(({ fact }) => fact.action !== 'allow').map((rule) => rule.id);
  return {
    ...{ network, policy: state.key, tier: state.policy.tier, drops: drops.sort() },
    ...(part && { port: partText(part) }),
  };
};

const manyNumbers = (port: PortName): string =>
  `peers have more than ${MAX_NUMBERS} numbers for port ${portNameText(port)}: the ${MAX_NUMBERS} of most pods are allowed, and rules that deny or pass deny all of ${port.protocol}`;
