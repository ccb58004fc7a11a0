/**
 * What no two networks may share: an id, tunnel keys, and names of OVN rows. The cluster manager sees to that; should
 * the API say otherwise all the same, the oldest network has it and the others are left out, because two networks in one
 * datapath would be one network.
 */
import { DEFAULT_NETWORK_NAME, rowNameStems } from '../../api/names.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { networkDatapathKey } from '../../api/network-keys.ts';
import { MultiMap } from '../../base/multi-map.ts';
import { DEFAULT_NETWORK_ID } from '../../net/ids.ts';

export interface NetworkClaim {
  readonly network: string;
  /** Sorts by age. */
  readonly age: string;
  readonly keys: NetworkKeys;
}

export class NetworkClaims {
  readonly #claims = new Map<string, NetworkClaim>();
  readonly #claimants = new MultiMap<string>();

  constructor() {
    this.set(DEFAULT_NETWORK_NAME, {
      network: DEFAULT_NETWORK_NAME,
      age: '',
      keys: { id: DEFAULT_NETWORK_ID, tunnelKeys: [] },
    });
  }

  /** Undefined when the network is gone. @returns the networks whose standing may have changed, itself included */
  set(network: string, claim: NetworkClaim | undefined): string[] {
    const before = this.#claims.get(network);
    const things = new Set([before, claim].flatMap((one) => (one === undefined ? [] : claimedBy(one))));
    const touched = new Set([network, ...[...things].flatMap((thing) => [...this.#claimants.get(thing)])]);
    for (const thing of before === undefined ? [] : claimedBy(before)) this.#claimants.delete(thing, network);
    for (const thing of claim === undefined ? [] : claimedBy(claim)) this.#claimants.add(thing, network);
    if (claim === undefined) this.#claims.delete(network);
    else this.#claims.set(network, claim);
    return [...touched];
  }

  /** The networks that claim an id. */
  claimantsOf(id: number): readonly string[] {
    return [...this.#claimants.get(`id ${id}`)];
  }

  /** The network that has what this one claims, too; undefined when this one has all that it claims. */
  rivalOf(network: string): string | undefined {
    const claim = this.#claims.get(network);
    if (claim === undefined) return undefined;
    return claimedBy(claim)
      .flatMap((thing) => [...this.#claimants.get(thing)])
      .find((other) => other !== network && (this.#claims.get(other)?.age ?? '') < claim.age);
  }
}

/** A network without keys of its own has a datapath whose key derives from its id. */
const claimedBy = ({ network, keys: { id, tunnelKeys } }: NetworkClaim): string[] => [
  `id ${id}`,
  ...rowNameStems(network).map((stem) => `names ${stem}`),
  ...new Set([networkDatapathKey(id), ...tunnelKeys].map((key) => `key ${key}`)),
];
