/**
 * Which network has which id, and which ids nobody may have: those of deleted networks that a node may still have on the
 * wire. Where a record of them is kept (`follow`), an id is assigned only once the record says that it is given, so that it
 * is free again when every node has said so, and not when the program that assigned it restarts (ADR 63). Without a record,
 * as in files, what is released is free. Of the free ones, those that were never used come first, then those that are free
 * for longest. No I/O and no clock.
 */
import { NetError } from '../../net/errors.ts';
import { IdRecord, type RetiredId } from './id-record.ts';
import { MOST_NETWORKS } from './network-room.ts';

export class NetworkIds {
  readonly #byOwner = new Map<string, number>();
  readonly #byId = new Map<number, string>();
  readonly #record: IdRecord;

  /** @param preferred up to this an id has all that derives from it */
  constructor(preferred = MOST_NETWORKS) {
    this.#record = new IdRecord(MOST_NETWORKS, preferred);
  }

  /** What is written down of them, and how it changes. */
  get record(): IdRecord {
    return this.#record;
  }

  /** How many networks have an id. */
  get size(): number {
    return this.#byOwner.size;
  }

  get(owner: string): number | undefined {
    return this.#byOwner.get(owner);
  }

  holderOf(id: number): string | undefined {
    return this.#byId.get(id);
  }

  /** Why an id is not for that network, though no network has it. */
  retiredFor(owner: string, id: number): RetiredId | undefined {
    const retired = this.#record.retired.get(id);
    return retired?.network === undefined || retired.network === owner ? undefined : retired;
  }

  /**
   * Takes note of what an owner holds already.
   * @returns who holds it when it is another one; then nothing changes
   */
  recover(owner: string, id: number): string | undefined {
    const holder = this.#byId.get(id);
    if (holder !== undefined) return holder === owner ? undefined : holder;
    this.#record.take(id);
    this.#note(owner, id);
    return undefined;
  }

  /** The owner's id: the one it holds, or the next free one. @throws NetError ERR_NET_EXHAUSTED */
  assign(owner: string): number {
    const held = this.#byOwner.get(owner);
    if (held !== undefined) return held;
    const id = this.#record.next();
    if (id === undefined) {
      const range = `1-${MOST_NETWORKS}`;
      throw new NetError('ERR_NET_EXHAUSTED', `all ids from 1 to ${MOST_NETWORKS} are in use`, range);
    }
    this.#note(owner, id);
    return id;
  }

  /** Absent is success. @param routerKey what else nobody may have meanwhile @param isKnown false: no node has seen it */
  release(
    owner: string,
    { routerKey, isKnown = true }: { routerKey?: number | undefined; isKnown?: boolean } = {},
  ): void {
    const id = this.#byOwner.get(owner);
    if (id === undefined) return;
    this.#byOwner.delete(owner);
    this.#byId.delete(id);
    this.#record.giveBack(id, owner, { routerKey, isKnown });
  }

  #note(owner: string, id: number): void {
    this.#byOwner.set(owner, id);
    this.#byId.set(id, owner);
  }
}
