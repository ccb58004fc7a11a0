/** Pods as facts: with what their annotations say, less what belongs to other pods, and with what they were given before. */
import type { PodNetworkEntry, PodNetworks } from '../../api/annotations/pod-networks.ts';
import { addressOf } from '../../net/cidr.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { PodFact } from '../model/facts.ts';
import { AddressClaims } from './address-claims.ts';
import { withKeptNetworks } from './kept-networks.ts';
import type { PodProjection } from './pod-projection.ts';

export class PodIndex {
  readonly #facts: FactStore;
  readonly #get: (key: string) => PodProjection | undefined;
  readonly #networkOf: (nadKey: string) => string;
  readonly #claims = new AddressClaims();

  /** @param get the mirror of pods @param networkOf name of a NAD's network */
  constructor(
    facts: FactStore,
    get: (key: string) => PodProjection | undefined,
    networkOf: (nadKey: string) => string,
  ) {
    this.#facts = facts;
    this.#get = get;
    this.#networkOf = networkOf;
  }

  /** Undefined when the pod is gone. */
  change(key: string, after: PodProjection | undefined): void {
    const others = this.#claims.set(key, after && this.#claimOf(key, after));
    if (others.size === 0) {
      this.#enter(key, after?.fact);
      return;
    }
    this.#publish(key, after);
    for (const other of others) this.#publish(other, this.#get(other));
  }

  #claimOf(key: string, { fact, createdAt }: PodProjection) {
    if (fact.finished || fact.hostNetwork) return undefined;
    const before = this.#facts.get('pod', key);
    const kept = before?.uid === fact.uid ? [...before.networks] : [];
    const things = [...kept, ...fact.networks].flatMap(([nadKey, entry]) =>
      thingsOf(entry).map((thing) => this.#thingOn(nadKey, thing)),
    );
    return { uid: fact.uid, createdAt, things: [...new Set(things)] };
  }

  #publish(key: string, projection: PodProjection | undefined): void {
    this.#enter(key, projection && this.#withoutRefused(key, projection.fact));
  }

  #enter(key: string, fact: PodFact | undefined): void {
    this.#facts.set('pod', key, fact && withKeptNetworks(this.#facts.get('pod', key), fact));
  }

  #withoutRefused(key: string, fact: PodFact): PodFact {
    const refused = new Map(
      [...fact.networks].flatMap(([nadKey, entry]): [string, string][] => {
        const taken = thingsOf(entry).flatMap((thing) => {
          const claimed = this.#thingOn(nadKey, thing);
          const rival = this.#claims.rivalOf(key, claimed);
          return rival === undefined ? [] : [`${claimed} belongs to pod ${rival}`];
        });
        return taken.length === 0 ? [] : [[nadKey, taken.join('; ')]];
      }),
    );
    if (refused.size === 0) return fact;
    const networks: PodNetworks = new Map([...fact.networks].filter(([nadKey]) => !refused.has(nadKey)));
    return { ...fact, networks, refused };
  }

  #thingOn(nadKey: string, thing: string): string {
    return `${thing} on network ${this.#networkOf(nadKey)}`;
  }
}

/** What no two pods of a network may share. */
const thingsOf = ({ ipAddresses, mac, tunnelId }: PodNetworkEntry): string[] => [
  ...ipAddresses.map(addressOf),
  `MAC ${mac}`,
  ...(tunnelId === undefined ? [] : [`port key ${tunnelId}`]),
];
