/**
 * The NADs of each network, and which of them defines it. A ClusterUserDefinedNetwork may have one in each of 1,000 namespaces: a change
 * costs what it touches.
 */
import { cudnOfNetworkName } from '../../api/names.ts';
import { compareByAge } from '../../api/object.ts';
import type { NadRecord } from './network-records.ts';

interface Group {
  readonly nads: Map<string, NadRecord>;
  definition: NadRecord | undefined;
}

export class NetworkNads {
  readonly #groups = new Map<string, Group>();

  has(network: string): boolean {
    return this.#groups.has(network);
  }

  /** In the order in which they came. */
  of(network: string): Iterable<NadRecord> {
    return this.#groups.get(network)?.nads.values() ?? [];
  }

  /** The oldest of those that were rendered from the network itself, else the oldest of all that may have its name. */
  definitionOf(network: string): NadRecord | undefined {
    return this.#groups.get(network)?.definition;
  }

  /** A NAD that is new or has changed; one whose network is another now is deleted first. */
  set(nad: NadRecord): void {
    const group = this.#groups.get(nad.conf.name) ?? { nads: new Map(), definition: undefined };
    this.#groups.set(nad.conf.name, group);
    group.nads.set(nad.key, nad);
    const { definition } = group;
    if (isBefore(nad, definition)) group.definition = nad;
    else if (definition?.key === nad.key) group.definition = firstOf(group.nads.values());
  }

  /** Absent is success. */
  delete(network: string, key: string): void {
    const group = this.#groups.get(network);
    if (group === undefined) return;
    group.nads.delete(key);
    if (group.nads.size === 0) this.#groups.delete(network);
    else if (group.definition?.key === key) group.definition = firstOf(group.nads.values());
  }
}

/**
 * Whether only a ClusterUserDefinedNetwork gives the name of the NAD's network: whoever takes it before that network exists would have
 * its pods on it. A NAD that was given the ids, by an earlier version or before it lost its owner, keeps them until the network is
 * rendered.
 */
export const isReserved = ({ isOwn, conf, annotatedNetwork }: NadRecord): boolean =>
  !isOwn && cudnOfNetworkName(conf.name) !== undefined && annotatedNetwork !== conf.name;

const firstOf = (nads: Iterable<NadRecord>): NadRecord | undefined => {
  let first: NadRecord | undefined;
  for (const nad of nads) if (isBefore(nad, first)) first = nad;
  return first;
};

/** Whether the NAD defines the network rather than the other one, which may be an earlier version of it. */
const isBefore = (nad: NadRecord, other: NadRecord | undefined): boolean => {
  if (isReserved(nad)) return false;
  if (other === undefined) return true;
  if (nad.isOwn !== other.isOwn) return nad.isOwn;
  return compareByAge(nad.metadata, other.metadata) <= 0;
};
