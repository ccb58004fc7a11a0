/** What is there: read once, kept current by events. Plain data, so that planning and tests need no kernel. */
import { MultiMap } from '../../base/multi-map.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Mac } from '../../net/mac.ts';
import type { Address } from '../netlink/address/types.ts';
import type { Link } from '../netlink/link/types.ts';
import type { NetlinkEvent } from '../netlink/monitor/events.ts';
import type { Neighbour } from '../netlink/neighbour/types.ts';
import type { Query, Snapshot } from '../netlink/netlink.ts';
import { OUR_PROTOCOL, type Route, routeKey, sameRoute } from '../netlink/route/types.ts';
import { type Rule, ruleText } from '../netlink/rule/types.ts';
import { linkOfSysctl } from './desired-index.ts';
import { VrfRules } from './vrf-rules.ts';

/** All but settings, which are read by name. */
export const EVERYTHING: Query = {
  links: true,
  addresses: true,
  routes: [
    { family: 4, protocol: OUR_PROTOCOL },
    { family: 6, protocol: OUR_PROTOCOL },
  ],
  rules: true,
  neighbours: true,
};

/** What an event means beyond the object that it names. */
export interface Touched {
  /** Key of the object, where it may be one of ours. */
  readonly key?: string;
  /** Links whose coming, going or state changes what can be on them. */
  readonly links: readonly Link[];
  /** A link whose addresses changed, by which routes may have become possible. */
  readonly reachableBy?: string;
  /** Keys of what may be wrong now without a word of the kernel: routes, and VRFs without the rule for all of them. */
  readonly mayBeGone?: readonly string[];
}

export class Mirror {
  readonly links = new Map<string, Link>();
  readonly #names = new Map<number, string>();
  readonly #vrfs = new Map<number, string>();
  readonly #addresses = new Map<string, Map<string, Address>>();
  /** With our protocol number, by key; several only where somebody appended one. */
  readonly routes = new Map<string, readonly Route[]>();
  /** Keys of routes by `dev NAME` and `src IP`. */
  readonly #routesBy = new MultiMap<string>();
  /** With our protocol number. */
  readonly rules = new Map<string, Rule>();
  readonly vrfRules = new VrfRules();
  /** Permanent ones, by link and address. */
  readonly #neighbours = new Map<string, Map<string, Mac>>();
  /** Absent: not known. Undefined: there is no such setting. */
  readonly #sysctls = new Map<string, string | undefined>();
  /** What `filterDigest` says, by link. Absent: not known. Undefined: it has none. */
  readonly #filters = new Map<string, string | undefined>();
  /** Chains that filters share: whether they have all of their rules. Absent: not there, or not known. */
  readonly #shared = new Map<string, boolean>();
  /** Keys of settings by their link. */
  readonly #sysctlsOf = new MultiMap<string>();
  /**
   * Tables whose routes may be others than we think. The kernel takes IPv4 routes of a link away without an event, for IPv6
   * too if set so (ip-sysctl, `skip_notify_on_dev_down`), and forgets the source of IPv6 routes when the address goes.
   */
  readonly staleTables = new Set<number>();

  nameOf(index: number | undefined): string | undefined {
    return index === undefined ? undefined : this.#names.get(index);
  }

  vrfOf(table: number): Link | undefined {
    const name = this.#vrfs.get(table);
    return name === undefined ? undefined : this.links.get(name);
  }

  address(link: string, address: string): Address | undefined {
    return this.#addresses.get(link)?.get(address);
  }

  addressesOf(link: string): Iterable<Address> {
    return this.#addresses.get(link)?.values() ?? [];
  }

  neighbour(link: string, address: string): Mac | undefined {
    return this.#neighbours.get(link)?.get(address);
  }

  neighboursOf(link: string): Iterable<[string, Mac]> {
    return this.#neighbours.get(link) ?? [];
  }

  /** Undefined while nobody has read it. */
  sysctl(key: string): { readonly value: string | undefined } | undefined {
    return this.#sysctls.has(key) ? { value: this.#sysctls.get(key) } : undefined;
  }

  /** Undefined while nobody has read it. */
  filter(link: string): { readonly digest: string | undefined } | undefined {
    return this.#filters.has(link) ? { digest: this.#filters.get(link) } : undefined;
  }

  /** Undefined while it is not there, or nobody has read it. */
  isSharedWhole(chain: string): boolean | undefined {
    return this.#shared.get(chain);
  }

  /** Takes what `EVERYTHING` gave. */
  load(snapshot: Snapshot): void {
    const maps = [this.links, this.#names, this.#vrfs, this.#addresses, this.routes, this.#routesBy, this.rules];
    const others = [this.#neighbours, this.#sysctls, this.#sysctlsOf, this.#filters, this.#shared, this.staleTables];
    for (const map of [...maps, ...others]) map.clear();
    for (const link of snapshot.links) this.#putLink(link);
    for (const address of snapshot.addresses) this.putAddress(address);
    for (const route of snapshot.routes) this.#addRoute(route);
    for (const rule of snapshot.rules) if (isOurs(rule)) this.rules.set(ruleKey(rule), rule);
    this.vrfRules.load(snapshot);
    for (const neighbour of snapshot.neighbours) this.putNeighbour(neighbour);
  }

  /**
   * Takes the routes of stale tables, read again.
   *
   * @returns keys of those that went: the event by which they did may come only now, and then names nothing that is known
   */
  loadTables(tables: ReadonlySet<number>, routes: readonly Route[]): string[] {
    const known = [...this.routes].filter(([, [first]]) => first !== undefined && tables.has(first.table));
    for (const [key] of known) this.#dropRoutes(key);
    for (const route of routes) this.#addRoute(route);
    for (const table of tables) this.staleTables.delete(table);
    return known.flatMap(([key]) => (this.routes.has(key) ? [] : [key]));
  }

  loadSysctls(keys: Iterable<string>, values: ReadonlyMap<string, string>): void {
    for (const key of keys) {
      this.#sysctls.set(key, values.get(key));
      const link = linkOfSysctl(key);
      if (link !== undefined) this.#sysctlsOf.add(link, key);
    }
  }

  loadFilters(links: Iterable<string>, digests: ReadonlyMap<string, string>): void {
    for (const link of links) this.#filters.set(link, digests.get(link));
  }

  loadShared(chains: ReadonlyMap<string, boolean>): void {
    for (const [chain, isWhole] of chains) this.#shared.set(chain, isWhole);
  }

  /** They have to be read again. @param link absent: all */
  loseFilters(link?: string): string[] {
    if (link === undefined) this.#shared.clear();
    const links = link === undefined ? [...this.#filters.keys()] : [link];
    for (const one of links) this.#filters.delete(one);
    return links;
  }

  /** For what the kernel reports only later: an IPv6 address after duplicate address detection. */
  putAddress(address: Address): void {
    const known = this.#addresses.get(address.link);
    if (known === undefined) this.#addresses.set(address.link, new Map([[address.address, address]]));
    else known.set(address.address, address);
  }

  apply(event: Exclude<NetlinkEvent, { kind: 'lost' }>): Touched {
    switch (event.kind) {
      case 'link':
        return event.change === 'new' ? this.#linkNew(event.link) : this.#linkGone(event.link.index);
      case 'address':
        return this.#applyAddress(event);
      case 'route':
        return this.#applyRoute(event);
      case 'rule':
        return this.#applyRule(event);
      case 'neighbour': {
        const { link, address } = event.neighbour;
        this.putNeighbour(event.change === 'new' ? event.neighbour : { ...event.neighbour, permanent: false });
        return { key: `neighbour ${link} ${address}`, links: [] };
      }
      case 'setting':
        // Of those that nobody asked for nothing is kept: every link has some.
        if (!this.#sysctls.has(event.key)) return { links: [] };
        this.#sysctls.set(event.key, event.value);
        return { key: `sysctl ${event.key}`, links: [] };
    }
  }

  #linkNew(link: Link): Touched {
    const old = this.links.get(this.#names.get(link.index) ?? '');
    // Renamed, or recreated under the name of one whose end is about to be reported.
    const other = this.links.get(link.name);
    if (old !== undefined && old.name !== link.name) this.#forgetLink(old);
    if (other !== undefined && other.index !== link.index) this.#forgetLink(other);
    this.#putLink(link);
    const isSame = old?.name === link.name && old.up === link.up && old.master === link.master;
    if (isSame) return { key: `link ${link.name}`, links: [] };
    const mayBeGone = this.#loseRoutes(`dev ${link.name}`);
    return {
      key: `link ${link.name}`,
      links: old?.name === link.name ? [link] : [link, ...(old ? [old] : [])],
      mayBeGone,
    };
  }

  #linkGone(index: number): Touched {
    const link = this.links.get(this.#names.get(index) ?? '');
    if (link === undefined) return { links: [] };
    this.#forgetLink(link);
    return { key: `link ${link.name}`, links: [link] };
  }

  #applyAddress({ change, address }: Extract<NetlinkEvent, { kind: 'address' }>): Touched {
    const key = `address ${address.link} ${address.address}`;
    if (change === 'new') {
      this.putAddress(address);
      return { key, links: [], reachableBy: address.link };
    }
    this.#addresses.get(address.link)?.delete(address.address);
    const lost = [`dev ${address.link}`, `src ${addressOf(address.address)}`];
    const mayBeGone = lost.flatMap((by) => this.#loseRoutes(by));
    return { key, links: [], reachableBy: address.link, mayBeGone };
  }

  #applyRule({ change, rule }: Extract<NetlinkEvent, { kind: 'rule' }>): Touched {
    if (rule.l3mdev === true) {
      this.vrfRules.apply(change, rule);
      return { links: [], mayBeGone: Array.from(this.#vrfs.values(), (name) => `link ${name}`) };
    }
    if (!isOurs(rule)) return { links: [] };
    const key = ruleKey(rule);
    if (change === 'new') this.rules.set(key, rule);
    else this.rules.delete(key);
    return { key, links: [] };
  }

  #applyRoute({ change, route, replaced }: Extract<NetlinkEvent, { kind: 'route' }>): Touched {
    const key = `route ${routeKey(route)}`;
    const known = this.routes.get(key) ?? [];
    const isOurs = route.protocol === OUR_PROTOCOL;
    // Events do not name the one of several that the kernel replaced, which is its first: only a reading knows their order.
    if (known.length > 1 || (known.length === 1 && change === 'new' && !replaced)) this.staleTables.add(route.table);
    if (change === 'gone') {
      if (isOurs)
        this.#setRoutes(
          key,
          known.filter((other) => !sameRoute(other, route)),
        );
    } else {
      const kept = (replaced ? known.slice(1) : known).filter((other) => !sameRoute(other, route));
      this.#setRoutes(key, isOurs ? [route, ...kept] : kept);
    }
    return isOurs || known.length > 0 ? { key, links: [] } : { links: [] };
  }

  #putLink(link: Link): void {
    this.links.set(link.name, link);
    this.#names.set(link.index, link.name);
    if (link.vrfTable !== undefined) this.#vrfs.set(link.vrfTable, link.name);
  }

  #forgetLink({ name, index, vrfTable }: Link): void {
    this.links.delete(name);
    this.#names.delete(index);
    if (vrfTable !== undefined && this.#vrfs.get(vrfTable) === name) this.#vrfs.delete(vrfTable);
    this.#addresses.delete(name);
    this.#neighbours.delete(name);
    this.#loseRoutes(`dev ${name}`);
    for (const key of this.#sysctlsOf.get(name)) this.#sysctls.delete(key);
    this.#filters.delete(name);
  }

  #loseRoutes(by: string): string[] {
    const keys = [...this.#routesBy.get(by)];
    for (const key of keys) for (const { table } of this.routes.get(key) ?? []) this.staleTables.add(table);
    return keys;
  }

  #addRoute(route: Route): void {
    const key = `route ${routeKey(route)}`;
    this.#setRoutes(key, [...(this.routes.get(key) ?? []), route]);
  }

  #dropRoutes(key: string): void {
    for (const route of this.routes.get(key) ?? []) for (const by of reasons(route)) this.#routesBy.delete(by, key);
    this.routes.delete(key);
  }

  #setRoutes(key: string, routes: readonly Route[]): void {
    this.#dropRoutes(key);
    if (routes.length > 0) this.routes.set(key, routes);
    for (const route of routes) for (const by of reasons(route)) this.#routesBy.add(by, key);
  }

  putNeighbour({ link, address, mac, permanent }: Neighbour): void {
    const known = this.#neighbours.get(link);
    if (!permanent || mac === undefined) known?.delete(address);
    else if (known === undefined) this.#neighbours.set(link, new Map([[address, mac]]));
    else known.set(address, mac);
  }
}

const isOurs = ({ protocol, l3mdev }: Rule): boolean => protocol === OUR_PROTOCOL && l3mdev !== true;

export const ruleKey = (rule: Rule): string => `rule ${ruleText(rule)}`;

/** With what the kernel changes a route or takes it away, without a word. */
const reasons = ({ dev, src }: Route): string[] => [
  ...(dev === undefined ? [] : [`dev ${dev}`]),
  ...(src === undefined ? [] : [`src ${src}`]),
];
