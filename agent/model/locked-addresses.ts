/** Which addresses of the default network are of locked interfaces: of pods that this node knows, and that have a primary network. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { isLocked, type PodFact } from './facts.ts';

export class LockedAddresses {
  /** An address goes from one pod to another in any order of events. */
  readonly #counts = new Map<Ip, number>();

  /** Costs what the pod has. @returns the addresses whose pods have changed, with what is true of them now */
  change(before: PodFact | undefined, after: PodFact | undefined): ReadonlyMap<Ip, boolean> {
    const [old, now] = [addressesOf(before), addressesOf(after)];
    for (const ip of now.difference(old)) this.#count(ip, 1);
    for (const ip of old.difference(now)) this.#count(ip, -1);
    return new Map([...now.symmetricDifference(old)].map((ip) => [ip, this.#counts.has(ip)]));
  }

  #count(ip: Ip, change: 1 | -1): void {
    const count = (this.#counts.get(ip) ?? 0) + change;
    if (count > 0) this.#counts.set(ip, count);
    else this.#counts.delete(ip);
  }
}

const addressesOf = (pod: PodFact | undefined): Set<Ip> => {
  const isAddressed = pod !== undefined && !pod.finished && isLocked(pod);
  return new Set(isAddressed ? pod.networks.get(DEFAULT_NETWORK_NAME)?.ipAddresses.map(addressOf) : []);
};
