/** A peer with the same addresses in all of its sets, as nearly all are: what there is one of for every pod of a cluster. */
import { UniformMap } from '../../../base/uniform-map.ts';
import type { Ip } from '../../../net/ip.ts';
import type { PolicyPeerFact } from './facts.ts';

/** Its fields are not private: comparisons look at them. */
export class PeerOfSets implements PolicyPeerFact {
  readonly ids: readonly string[];
  /** One alone needs no list. */
  readonly ips: Ip | readonly Ip[];

  /** @param ids of the sets, sorted; pods in the same sets share the list */
  constructor(ids: readonly string[], ips: readonly Ip[]) {
    const [only] = ips;
    this.ids = ids;
    this.ips = only !== undefined && ips.length === 1 ? only : ips;
  }

  get sets(): ReadonlyMap<string, readonly Ip[]> {
    return new UniformMap(this.ids, typeof this.ips === 'string' ? [this.ips] : this.ips);
  }
}
