/** The rules that a policy has on a network while pods of this node are its subjects there, as facts. */
import { adminPolicyKey } from '../../../../api/admin-network-policy.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { PeerTable } from '../peer-table.ts';
import type { SiteState } from './admin-state.ts';
import { type AdminSite, type CompiledAdminRule, compileAdmin, partText, type Surroundings } from './compile.ts';

interface SiteRulesOptions {
  readonly facts: FactStore;
  readonly peers: PeerTable;
  readonly nodeAddresses: Surroundings['nodeAddresses'];
  /** The numbers of a named port are others now. */
  readonly onChange: (site: SiteState) => void;
}

export class SiteRules {
  readonly #options: SiteRulesOptions;

  constructor(options: SiteRulesOptions) {
    this.#options = options;
  }

  /** @param first OVN's priority of the policy's first rule; undefined: it has no rules here */
  compile(site: SiteState, first: number | undefined): void {
    const before = site.unwatch;
    const unwatch: (() => void)[] = [];
    const rules = first === undefined ? [] : this.#rulesOf(site, first, unwatch);
    site.unwatch = unwatch;
    this.#install(site, new Map(rules.map((rule) => [rule.id, rule])));
    for (const end of before) end();
  }

  #rulesOf(site: SiteState, first: number, unwatch: (() => void)[]): CompiledAdminRule[] {
    const { peers, nodeAddresses, onChange } = this.#options;
    const { network, families, state } = site;
    const { templates, policy } = state;
    const at: AdminSite = { policy: adminPolicyKey(policy), tier: policy.tier, first, network, families };
    const stale = (): void => onChange(site);
    const surroundings: Surroundings = {
      nodeAddresses,
      numbersOf: (selection, port) => {
        unwatch.push(() => peers.unwatch(network, selection, port, stale));
        return peers.watch(network, selection, port, stale);
      },
    };
    const parts = [...site.sets.values()].filter(({ members }) => members > 0);
    return parts.flatMap(({ part }) => compileAdmin(templates, part, at, surroundings));
  }

  #install(site: SiteState, rules: ReadonlyMap<string, CompiledAdminRule>): void {
    const { facts, peers } = this.#options;
    for (const [id, { fact, set }] of rules) {
      if (set !== undefined && !site.rules.has(id)) peers.acquire(set);
      facts.set('adminRule', id, fact);
    }
    for (const [id, { set }] of site.rules) {
      if (rules.has(id)) continue;
      facts.set('adminRule', id, undefined);
      if (set !== undefined) peers.release(set);
    }
    site.rules = rules;
    const { network } = site;
    const { policy } = site.state;
    const all = [...rules.values()];
    for (const [id, { part, members }] of site.sets) {
      const drops = all.filter(({ fact }) => fact.action !== 'allow' && fact.subjects === id).map((rule) => rule.id);
      const fact = {
        ...{ network, policy: adminPolicyKey(policy), tier: policy.tier, drops: drops.sort() },
        ...(part && { port: partText(part) }),
      };
      facts.set('subjectSet', id, members === 0 ? undefined : fact);
      if (members === 0) site.sets.delete(id);
    }
  }
}
