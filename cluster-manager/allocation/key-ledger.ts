/** The ids and tunnel keys of networks. No I/O and no clock. */
import type { Network } from '../../api/network.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { FIRST_ALLOCATED_KEY, LAST_ALLOCATED_KEY, networkDatapathKey } from '../../api/network-keys.ts';
import { parseDatapathKey, parseNetworkId } from '../../net/ids.ts';
import { createIdLedger } from './id-ledger.ts';
import { MOST_NETWORKS } from './network-room.ts';

export class KeyLedger {
  readonly #ids = createIdLedger({ min: 1, max: MOST_NETWORKS });
  /** Of transit routers; a network's other key derives from its id. */
  readonly #routerKeys = createIdLedger({ min: FIRST_ALLOCATED_KEY, max: LAST_ALLOCATED_KEY });

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

  /** Takes note of what a network has already. @returns a sentence for what it can't have */
  recover(network: string, keys: NetworkKeys): readonly string[] {
    return [...this.#recoverId(network, keys), ...this.#recoverRouterKey(network, keys)];
  }

  /** What the network has, and the lowest that is free of what it lacks. @throws NetError ERR_NET_EXHAUSTED */
  assign({ name, topology, role }: Network): NetworkKeys {
    const id = parseNetworkId(this.#ids.assign(name));
    if (topology !== 'layer2' || role !== 'primary') return { id, tunnelKeys: [] };
    const routerKey = parseDatapathKey(this.#routerKeys.assign(name));
    return { id, tunnelKeys: [networkDatapathKey(id), routerKey] };
  }

  /** Absent is success. */
  release(network: string): void {
    this.#ids.release(network);
    this.#routerKeys.release(network);
  }

  #recoverId(name: string, { id }: NetworkKeys): string[] {
    const held = this.#ids.get(name);
    if (held === id) return [];
    if (held !== undefined) return [`network id ${id} is not the network's: ${held} stays`];
    if (id === 0) return ['network id 0 is that of the default network'];
    const holder = this.#ids.recover(name, id);
    return holder === undefined ? [] : [`network id ${id} belongs to network ${holder} already`];
  }

  #recoverRouterKey(name: string, { tunnelKeys }: NetworkKeys): string[] {
    const key = tunnelKeys[1];
    const held = this.#routerKeys.get(name);
    if (key === undefined || held === key) return [];
    if (held !== undefined) return [`tunnel key ${key} is not the network's: ${held} stays`];
    if (key < FIRST_ALLOCATED_KEY) return [`tunnel key ${key} is below ${FIRST_ALLOCATED_KEY}`];
    const holder = this.#routerKeys.recover(name, key);
    return holder === undefined ? [] : [`tunnel key ${key} belongs to network ${holder} already`];
  }
}
