/** The ids and tunnel keys of networks. No I/O and no clock. */

import type { ClusterConfig } from '../../api/cluster-config.ts';
import { lastMasqueradedNetwork } from '../../api/masquerade.ts';
import type { Network } from '../../api/network.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { FIRST_ALLOCATED_KEY, LAST_ALLOCATED_KEY, networkDatapathKey, usualRouterKey } from '../../api/network-keys.ts';
import { NetError } from '../../net/errors.ts';
import { parseDatapathKey, parseNetworkId } from '../../net/ids.ts';
import type { IdRecord } from './id-record.ts';
import { NetworkIds } from './network-ids.ts';
import { MOST_NETWORKS } from './network-room.ts';

export class KeyLedger {
  readonly #ids: NetworkIds;
  /** Of transit routers: network → key and back. A network's other key derives from its id. */
  readonly #routerKeys = new Map<string, number>();
  readonly #byRouterKey = new Map<number, string>();

  constructor(cluster: Pick<ClusterConfig, 'masqueradeSubnets'>) {
    this.#ids = new NetworkIds(lastMasqueradedNetwork(cluster));
  }

  /** What is written down of ids. */
  get record(): IdRecord {
    return this.#ids.record;
  }

  /** How many networks have an id. */
  get size(): number {
    return this.#ids.size;
  }

  has(network: string): boolean {
    return this.#ids.get(network) !== undefined;
  }

  holderOf(id: number): string | undefined {
    return this.#ids.holderOf(id);
  }

  /** Takes note of what a network has already. @returns a message for what it can't have */
  recover(network: string, keys: NetworkKeys): readonly string[] {
    return [...this.#recoverId(network, keys), ...this.#recoverRouterKey(network, keys)];
  }

  /** What the network has, and what is free of what it lacks. @throws NetError ERR_NET_EXHAUSTED */
  assign({ name, topology, role }: Network): NetworkKeys {
    const id = parseNetworkId(this.#ids.assign(name));
    if (topology !== 'layer2' || role !== 'primary') return { id, tunnelKeys: [] };
    const routerKey = this.#routerKeys.get(name) ?? this.#freeRouterKey(id);
    this.#noteRouterKey(name, routerKey);
    return { id, tunnelKeys: [networkDatapathKey(id), parseDatapathKey(routerKey)] };
  }

  /** Absent is success. Whoever may still have the id may have the key as well. @param isKnown false: no node has seen it */
  release(network: string, isKnown = true): void {
    const key = this.#routerKeys.get(network);
    this.#ids.release(network, { routerKey: key, isKnown });
    this.#routerKeys.delete(network);
    if (key !== undefined) this.#byRouterKey.delete(key);
  }

  #recoverId(name: string, { id }: NetworkKeys): string[] {
    const held = this.#ids.get(name);
    if (held === id) return [];
    if (held !== undefined) return [`network id ${id} is not that of the network: keeping ${held}`];
    if (id === 0) return ['network id 0 is that of the default network'];
    const retired = this.#ids.retiredFor(name, id);
    if (retired !== undefined) return [`network id ${id} is reserved: nodes may still have network ${retired.network}`];
    const holder = this.#ids.recover(name, id);
    return holder === undefined ? [] : [`network id ${id} already belongs to network ${holder}`];
  }

  #recoverRouterKey(name: string, { tunnelKeys }: NetworkKeys): string[] {
    const key = tunnelKeys[1];
    const held = this.#routerKeys.get(name);
    if (key === undefined || held === key) return [];
    if (held !== undefined) return [`tunnel key ${key} is not that of the network: keeping ${held}`];
    if (key < FIRST_ALLOCATED_KEY) return [`tunnel key ${key} is below ${FIRST_ALLOCATED_KEY}`];
    const holder = this.#byRouterKey.get(key);
    if (holder !== undefined) return [`tunnel key ${key} already belongs to network ${holder}`];
    // What a NAD says is its network's, unless it is written down that another one had it: an id that nobody is known to have
    // had may be that of a network whose NAD comes next, and one of layer 3 has no such key.
    if (this.#retiredRouterKeys().has(key)) return [`tunnel key ${key} is reserved: nodes may still use it`];
    this.#noteRouterKey(name, key);
    return [];
  }

  #noteRouterKey(name: string, key: number): void {
    this.#routerKeys.set(name, key);
    this.#byRouterKey.set(key, name);
  }

  /**
   * The key that follows from the id: so it is nobody's as long as the id is. Where a network has it that got its key before
   * they followed from ids, one that follows from none.
   */
  #freeRouterKey(id: ReturnType<typeof parseNetworkId>): number {
    const reserved = this.#reservedRouterKeys();
    const isFree = (key: number): boolean => !this.#byRouterKey.has(key) && !reserved.has(key);
    const usual = usualRouterKey(id);
    if (isFree(usual)) return usual;
    for (let key = FIRST_ALLOCATED_KEY + MOST_NETWORKS; key <= LAST_ALLOCATED_KEY; key += 1)
      if (isFree(key)) return key;
    throw new NetError('ERR_NET_EXHAUSTED', 'all tunnel keys are in use', String(LAST_ALLOCATED_KEY));
  }

  /** Those that deleted networks may have had: also where it is not written down which one that was. */
  #reservedRouterKeys(): ReadonlySet<number> {
    return new Set(
      [...this.record.retired].map(([id, { routerKey = usualRouterKey(parseNetworkId(id)) }]) => routerKey),
    );
  }

  /** Those that deleted networks are known to have had. */
  #retiredRouterKeys(): ReadonlySet<number | undefined> {
    return new Set([...this.record.retired.values()].map(({ routerKey }) => routerKey));
  }
}
