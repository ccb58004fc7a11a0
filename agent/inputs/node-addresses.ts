/** Which addresses are nodes': of any of them, and of several those that each has for itself, as bridges of containers are. */
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { NodeProjection } from './node-projection.ts';

type Addressed = Pick<NodeProjection, 'hostAddresses' | 'internalIps' | 'gateway'>;

export class NodeAddresses {
  readonly #facts: Pick<FactStore, 'set'>;
  readonly #counts = new Map<Ip, number>();

  constructor(facts: Pick<FactStore, 'set'>) {
    this.#facts = facts;
  }

  /** Costs what the node has, and reports what has changed. */
  change(before: Addressed | undefined, after: Addressed | undefined): void {
    const [old, now] = [addressesOf(before), addressesOf(after)];
    for (const ip of now.difference(old)) this.#count(ip, 1);
    for (const ip of old.difference(now)) this.#count(ip, -1);
  }

  #count(ip: Ip, change: 1 | -1): void {
    const count = (this.#counts.get(ip) ?? 0) + change;
    if (count > 0) this.#counts.set(ip, count);
    else this.#counts.delete(ip);
    this.#facts.set('nodeAddress', ip, count > 0 ? true : undefined);
  }
}

const addressesOf = (node: Addressed | undefined): Set<Ip> =>
  new Set([
    ...(node?.internalIps ?? []),
    ...[...(node?.hostAddresses ?? []), ...(node?.gateway?.addresses ?? [])].map(addressOf),
  ]);
