/**
 * What the firewalls of a node cost it together, whoever owns them: ACLs, sets of nodes' addresses, and domain names. Where that is too much,
 * the smallest have room first: no firewall is closed for others as long as it takes no more than its share, and neither the order of events
 * nor names decide.
 */
import type { DomainName } from '../../../../net/domain-name.ts';
import type { Family } from '../../../../net/ip.ts';
import type { SiteState } from './admin-state.ts';
import type { AdminTemplate } from './templates.ts';

/** Why rules of a firewall are not followed on this node. */
export interface Excess {
  readonly message: string;
  /** The firewall denies all that leaves the cluster; else its rules with domain names, which only allow, are left out. */
  readonly isWhole: boolean;
}

interface FirewallCost {
  /** ACLs. */
  readonly rules: number;
  /** Address sets with all nodes that a rule selects. */
  readonly nodeSets: number;
  readonly names: ReadonlySet<DomainName>;
}

export interface FirewallLimits {
  readonly rules: number;
  readonly nodeSets: number;
  readonly names: number;
}

/** Of all firewalls with pods on a node. A limit of the resolver is that of the names (agent/dns/resolver.ts). */
export const NODE_LIMITS: FirewallLimits = { rules: 65_536, nodeSets: 1_024, names: 2_000 };

interface Active {
  readonly id: string;
  site: SiteState;
  readonly templates: readonly AdminTemplate[];
  readonly families: readonly Family[];
  readonly cost: FirewallCost;
}

export class FirewallRoom {
  readonly #limits: FirewallLimits;
  /** By id of the set of all subjects: the same for each version of a firewall. */
  readonly #active = new Map<string, Active>();
  readonly #usage = new Usage();
  #hasChanged = false;
  /** Some firewall may be without its share. */
  #hasExcess = false;

  constructor(limits: FirewallLimits = NODE_LIMITS) {
    this.#limits = limits;
  }

  /** @param stale rules or subjects of these have changed @returns those, of all, whose rules are others now */
  settle(stale: Iterable<SiteState>): SiteState[] {
    for (const site of stale) if (site.state.policy.tier === 'firewall') this.#follow(site);
    if (!this.#hasChanged) return [];
    this.#hasChanged = false;
    const hasRoom = this.#usage.isWithin(this.#limits);
    // Nearly always: all firewalls together have room, and had it before.
    if (hasRoom && !this.#hasExcess) return [];
    this.#hasExcess = !hasRoom;
    const excess = this.#excess();
    return [...this.#active.values()].flatMap((one) => {
      const { site } = one;
      const before = site.excessOfNode;
      site.excessOfNode = excess.get(one);
      return before?.isWhole === site.excessOfNode?.isWhole ? [] : [site];
    });
  }

  #follow(site: SiteState): void {
    const { whole: id, state, families, parts } = site;
    if (parts.size === 0) {
      this.#hasChanged = this.#replace(id, undefined) || this.#hasChanged;
      return;
    }
    // By what it was without before.
    if (site.excessOfNode !== undefined) this.#hasExcess = true;
    const { templates } = state.rules;
    const known = this.#active.get(id);
    if (known?.templates === templates && known.families === families) {
      known.site = site;
      return;
    }
    this.#hasChanged = true;
    this.#replace(id, { id, site, templates, families, cost: costOf(templates, families) });
  }

  /** @returns whether there was one */
  #replace(id: string, after: Active | undefined): boolean {
    const before = this.#active.get(id);
    if (before !== undefined) this.#usage.count(before.cost, -1);
    if (after === undefined) this.#active.delete(id);
    else {
      this.#active.set(id, after);
      this.#usage.count(after.cost, 1);
    }
    return before !== undefined;
  }

  #excess(): ReadonlyMap<Active, Excess> {
    const found = new Map<Active, Excess>();
    const { rules, nodeSets, names } = this.#limits;
    const closed = (message: string): Excess => ({ message: `${message}; ${CLOSED}`, isWhole: true });
    for (const one of this.#over('rules', rules, found))
      found.set(one, closed(messageOf(one.cost.rules, 'ACLs', rules)));
    for (const one of this.#over('nodeSets', nodeSets, found))
      found.set(one, closed(messageOf(one.cost.nodeSets, 'sets of nodes’ addresses', nodeSets)));
    for (const one of this.#withoutNames(found)) {
      const message = messageOf(one.cost.names.size, 'domain names', names);
      found.set(one, deniesNames(one) ? closed(message) : { message: `${message}; ${NAMELESS}`, isWhole: false });
    }
    return found;
  }

  #over(part: 'rules' | 'nodeSets', limit: number, without: ReadonlyMap<Active, Excess>): Active[] {
    const costs = this.#ordered(without, ({ cost }) => cost[part]);
    let used = 0;
    return costs.filter(({ cost }) => {
      used += cost[part];
      return used > limit;
    });
  }

  /** A name that several have is resolved once. */
  #withoutNames(without: ReadonlyMap<Active, Excess>): Active[] {
    const { names: limit } = this.#limits;
    const used = new Set<DomainName>();
    return this.#ordered(without, ({ cost }) => cost.names.size).filter(({ cost: { names } }) => {
      const more = [...names].filter((name) => !used.has(name));
      if (used.size + more.length > limit) return true;
      for (const name of more) used.add(name);
      return false;
    });
  }

  #ordered(without: ReadonlyMap<Active, Excess>, sizeOf: (one: Active) => number): Active[] {
    const left = [...this.#active.values()].filter((one) => !without.has(one));
    return left.sort((a, b) => sizeOf(a) - sizeOf(b) || (a.id < b.id ? -1 : 1));
  }
}

/** What all firewalls of the node cost it, counted as they come and go. */
class Usage {
  #rules = 0;
  #nodeSets = 0;
  /** By name, how many firewalls have it. */
  readonly #names = new Map<DomainName, number>();

  count({ rules, nodeSets, names }: FirewallCost, by: 1 | -1): void {
    this.#rules += by * rules;
    this.#nodeSets += by * nodeSets;
    for (const name of names) {
      const now = (this.#names.get(name) ?? 0) + by;
      if (now === 0) this.#names.delete(name);
      else this.#names.set(name, now);
    }
  }

  isWithin({ rules, nodeSets, names }: FirewallLimits): boolean {
    return this.#rules <= rules && this.#nodeSets <= nodeSets && this.#names.size <= names;
  }
}

/** The rules that a firewall has on this node, with what is beyond its room. */
export const templatesOf = ({
  state: { rules },
  excessOfNode,
}: Pick<SiteState, 'state' | 'excessOfNode'>): readonly AdminTemplate[] => {
  if (excessOfNode === undefined) return rules.templates;
  if (excessOfNode.isWhole) return DENY_ALL;
  return rules.templates.filter(({ peers }) => peers.every(({ kind }) => kind !== 'domains'));
};

const DENY_ALL: readonly AdminTemplate[] = [
  { direction: 'Egress', index: 0, action: 'deny', peers: [{ kind: 'any' }], l4: [undefined], names: [] },
];

const costOf = (templates: readonly AdminTemplate[], families: readonly Family[]): FirewallCost => {
  let [rules, nodeSets] = [0, 0];
  const names = new Set<DomainName>();
  for (const { peers, l4 } of templates) {
    for (const peer of peers) {
      const own = peer.kind === 'blocks' ? families.filter((family) => peer.blocks.has(family)) : families;
      const acls = l4.length * own.length;
      rules += acls;
      if (peer.kind === 'nodes') nodeSets += acls;
      if (peer.kind === 'domains') for (const name of peer.names) names.add(name);
    }
  }
  return { rules, nodeSets, names };
};

const deniesNames = ({ templates }: Active): boolean =>
  templates.some(({ action, peers }) => action === 'deny' && peers.some(({ kind }) => kind === 'domains'));

const messageOf = (own: number, what: string, limit: number): string =>
  `the firewalls of namespaces with pods on this node need more than ${limit} ${what}, and this one, with ${own}, more than its share`;

const CLOSED = 'all that leaves the cluster is denied';
const NAMELESS = 'its rules with domain names allow nothing';
