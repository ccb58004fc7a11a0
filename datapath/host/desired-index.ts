/** Which of the desired state depends on what, so that an event costs what it touches. */
import { MultiMap } from '../../base/multi-map.ts';
import { type HostOwnership, isVrfTable } from './ownership.ts';
import type { HostItem } from './types.ts';

export class DesiredIndex {
  readonly #ownership: HostOwnership;
  /** Keys by what they depend on: `link NAME`, `table NUMBER`. */
  readonly #dependents = new MultiMap<string>();
  readonly #known = new Map<string, readonly string[]>();
  #desired: ReadonlyMap<string, HostItem> = new Map();

  constructor(ownership: HostOwnership) {
    this.#ownership = ownership;
  }

  get desired(): ReadonlyMap<string, HostItem> {
    return this.#desired;
  }

  update(desired: ReadonlyMap<string, HostItem>, keys: ReadonlySet<string> | 'all'): void {
    const all = keys === 'all' || desired !== this.#desired;
    this.#desired = desired;
    for (const key of all ? new Set([...this.#known.keys(), ...desired.keys()]) : keys) this.#index(key);
  }

  /** What has to be looked at when a link comes, goes, or goes up or down. */
  ofLink(name: string): Iterable<string> {
    return this.#dependents.get(`link ${name}`);
  }

  /** What has to be looked at when the VRF of a table comes or goes. */
  ofTable(table: number): Iterable<string> {
    return this.#dependents.get(`table ${table}`);
  }

  /** The VRF that a link is desired to be a port of. */
  masterOf(link: string): string | undefined {
    const item = this.#desired.get(`link ${link}`);
    return item?.kind === 'link' && item.link.kind === 'foreign' ? item.link.master : undefined;
  }

  #index(key: string): void {
    for (const dependency of this.#known.get(key) ?? []) this.#dependents.delete(dependency, key);
    const item = this.#desired.get(key);
    const dependencies = item === undefined ? [] : this.dependenciesOf(item);
    if (dependencies.length === 0) this.#known.delete(key);
    else this.#known.set(key, dependencies);
    for (const dependency of dependencies) this.#dependents.add(dependency, key);
  }

  /** `link NAME` and `table NUMBER`: what something can't be right without. */
  dependenciesOf(item: HostItem): string[] {
    const table = item.kind === 'route' ? item.route.table : item.kind === 'rule' ? item.rule.table : undefined;
    const link = item.kind === 'link' && item.link.kind === 'foreign' ? item.link.master : linkOf(item);
    return [
      ...(link === undefined ? [] : [`link ${link}`]),
      ...(table === undefined || !isVrfTable(table, this.#ownership) ? [] : [`table ${table}`]),
    ];
  }
}

/** The link that a thing is on; undefined for links themselves. */
export const linkOf = (item: HostItem): string | undefined => {
  switch (item.kind) {
    case 'link':
    case 'rule':
      return undefined;
    case 'address':
      return item.address.link;
    case 'route':
      return item.route.dev;
    case 'neighbour':
      return item.neighbour.link;
    case 'sysctl':
      return linkOfSysctl(item.sysctl.key);
    case 'filter':
      return item.filter.link;
  }
};

/** `ipv4/conf/NAME/rp_filter`; undefined for a setting of the whole namespace. */
export const linkOfSysctl = (key: string): string | undefined => {
  const [, group, name] = key.split('/');
  const isOfLink = (group === 'conf' || group === 'neigh') && name !== 'all' && name !== 'default';
  return isOfLink ? name : undefined;
};
