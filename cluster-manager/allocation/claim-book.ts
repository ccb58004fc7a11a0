/**
 * The IPAMClaims of the cluster. A claim has what its status says, whether a pod uses it or not, until it is deleted; the
 * pods that name it have that, one after the other, or two of one virtual machine at once. No I/O and no clock.
 */
import type { ConditionInput } from '../../api/condition.ts';
import { MultiMap } from '../../base/multi-map.ts';
import { addressOf, type InterfaceAddress } from '../../net/cidr.ts';
import { AllocationError, type AllocationErrorCode } from '../errors.ts';
import type { Claim, ClaimFacts } from '../facts/claim-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { PodAllocations } from './pod-allocations.ts';
import type { AddressRequest } from './port.ts';

/** What the status of a claim should say. */
export interface ClaimStatus {
  readonly addresses: readonly InterfaceAddress[];
  readonly ownerPod: string | undefined;
  readonly condition: ConditionInput;
}

/** A pod that names a claim. */
export interface Claimant {
  readonly pod: string;
  readonly machine: string;
  /** Of the network that it names the claim for. */
  readonly network: string;
  readonly request: AddressRequest;
}

interface Held {
  readonly network: string;
  readonly addresses: readonly InterfaceAddress[];
}

interface Failure {
  readonly reason: string;
  readonly message: string;
}

interface Conflict extends Failure {
  /** What the status said. */
  readonly addresses: readonly InterfaceAddress[];
}

export class ClaimBook {
  readonly #pods: PodAllocations;
  readonly #claims = new Map<string, ClaimFacts>();
  readonly #byNetwork = new MultiMap<string>();
  /** Claims whose status says what others have. */
  readonly #conflicts = new Map<string, Conflict>();
  /** Claim → pod → why the pod got nothing of it, the first one first. */
  readonly #refused = new Map<string, Map<string, Failure>>();

  constructor(pods: PodAllocations) {
    this.#pods = pods;
  }

  get(key: string): ClaimFacts | undefined {
    return this.#claims.get(key);
  }

  /** A claim that is new or has changed: what its status says is its own from here on. */
  upsert(facts: ClaimFacts): void {
    const before = this.#claims.get(facts.key);
    // One that became unreadable keeps what it has.
    const claim = facts.claim ?? before?.claim;
    this.#claims.set(facts.key, { ...facts, claim });
    if (claim === undefined) return;
    this.#byNetwork.add(claim.network, facts.key);
    this.#recover(facts.key, claim);
  }

  /** @returns the networks that got something back */
  remove(key: string): readonly string[] {
    const network = this.#claims.get(key)?.claim?.network;
    this.#claims.delete(key);
    this.#refused.delete(key);
    this.#conflicts.delete(key);
    if (network === undefined) return [];
    this.#byNetwork.delete(network, key);
    return this.#pods.unkeep(network, ownerOf(key)) ? [network] : [];
  }

  /** A network is there: to be called before any pod gets something of it. What two claims have is the older one's. */
  recoverNetwork(network: string): void {
    const keys = [...this.#byNetwork.get(network)];
    const claims = keys.flatMap((key) => this.#claims.get(key) ?? []).sort(oldestFirst);
    // It may have other subnets now: all is tried again.
    for (const { key } of claims) if (this.#conflicts.delete(key)) this.#pods.unkeep(network, ownerOf(key));
    for (const { key, claim } of claims) if (claim !== undefined) this.#recover(key, claim);
  }

  /** Whose the addresses of a pod that has some are: the claim's, unless that is of another network, or is not there. */
  ownerFor(key: string, network: string): string | undefined {
    return this.#claims.get(key)?.claim?.network === network ? ownerOf(key) : undefined;
  }

  /** The claim that has an address of a pod, whether the pod names it still or was the last that the claim knew of. */
  holderFor(pod: Pick<PodFacts, 'namespace' | 'name'>, named: readonly string[], held: Held): string | undefined {
    const [address] = held.addresses;
    const owner = address === undefined ? undefined : this.#pods.holderOf(held.network, addressOf(address));
    if (owner?.startsWith(OWNER_PREFIX) !== true) return undefined;
    const key = owner.slice(OWNER_PREFIX.length);
    const facts = this.#claims.get(key);
    const isLast = facts?.namespace === pod.namespace && facts.claim?.ownerPod === pod.name;
    return isLast || named.includes(key) ? key : undefined;
  }

  /**
   * Whose addresses a pod that has none gets by a claim, and what it has to ask for.
   * @throws AllocationError
   */
  use(key: string, { pod, machine, network, request }: Claimant): { owner: string; request: AddressRequest } {
    const { claim, error, isLeaving } = this.#claims.get(key) ?? refuse(`IPAMClaim ${key} does not exist`);
    if (claim === undefined) return refuse(`IPAMClaim ${key} is wrong: ${error?.message}`);
    if (claim.network !== network) return refuse(`IPAMClaim ${key} belongs to network ${claim.network}`);
    const owner = ownerOf(key);
    const users = this.#pods.podsOf(network, owner);
    // Who has it already is what a claim that is being deleted waits for: refused, both would wait for each other.
    if (isLeaving && !users.some((one) => one.pod === pod)) return refuse(`IPAMClaim ${key} is being deleted`);
    const other = users.find((one) => one.pod !== pod && one.machine !== machine);
    if (other !== undefined) throw conflict(`IPAMClaim ${key} is in use by pod ${other.pod}`);
    const found = this.#conflictOf(key);
    if (found !== undefined) throw conflict(`IPAMClaim ${key}: ${found.message}`);
    const isGiven = this.#pods.addressesOf(network, owner) !== undefined;
    const ips = request.ips.length > 0 || isGiven ? request.ips : claim.requests.map(addressOf);
    return { owner, request: { ...request, ips } };
  }

  /** What came of `use` by a pod. */
  note(key: string, pod: string, error: AllocationError | undefined): void {
    const refused = this.#refused.get(key) ?? new Map<string, Failure>();
    if (error === undefined) refused.delete(pod);
    else refused.set(pod, { reason: REASONS[error.code], message: error.message });
    if (refused.size === 0) this.#refused.delete(key);
    else this.#refused.set(key, refused);
  }

  /** The pod is gone. @returns the claims that it got nothing of */
  forget(pod: string): readonly string[] {
    const keys = [...this.#refused].flatMap(([key, refused]) => (refused.has(pod) ? [key] : []));
    for (const key of keys) this.note(key, pod, undefined);
    return keys;
  }

  /** Undefined: nobody has used the claim, and there is nothing to say. */
  status(key: string): ClaimStatus | undefined {
    const claim = this.#claims.get(key)?.claim;
    if (claim === undefined) return undefined;
    const conflict = this.#conflictOf(key);
    const failure = conflict ?? this.#refusalOf(key);
    const held = this.#pods.addressesOf(claim.network, ownerOf(key));
    if (held === undefined && failure === undefined) return undefined;
    return {
      // What two have stays written at both: who reads the claim sees what the message is about.
      addresses: conflict === undefined ? (held ?? claim.addresses) : claim.addresses,
      ownerPod: this.users(key).at(-1)?.split('/')[1],
      condition: failure === undefined ? ALLOCATED : failedBy(failure),
    };
  }

  /** The pods that have the claim's addresses. */
  users(key: string): readonly string[] {
    const claim = this.#claims.get(key)?.claim;
    return claim === undefined ? [] : this.#pods.podsOf(claim.network, ownerOf(key)).map(({ pod }) => pod);
  }

  /** The claims that a pod has addresses of, whatever its annotations say by now. */
  usedBy(pod: string): readonly string[] {
    const owners = this.#pods.ownersOf(pod).filter((owner) => owner.startsWith(OWNER_PREFIX));
    return owners.map((owner) => owner.slice(OWNER_PREFIX.length));
  }

  /** Claims that have not what their status says, and why. */
  conflicts(): readonly { readonly claim: ClaimFacts; readonly message: string }[] {
    return [...this.#conflicts].flatMap(([key, { message }]) => {
      const claim = this.#claims.get(key);
      return claim === undefined ? [] : [{ claim, message }];
    });
  }

  /** Claims that may have got what others of these networks had. */
  inConflict(networks: readonly string[]): readonly string[] {
    if (networks.length === 0) return [];
    return this.conflicts().flatMap(({ claim: { key, claim } }) =>
      claim !== undefined && networks.includes(claim.network) ? [key] : [],
    );
  }

  /** None any more when it got what it waited for. */
  #conflictOf(key: string): Conflict | undefined {
    const found = this.#conflicts.get(key);
    const claim = this.#claims.get(key)?.claim;
    const held = claim === undefined ? undefined : this.#pods.addressesOf(claim.network, ownerOf(key));
    return found?.addresses.every((address) => held?.includes(address)) === true ? undefined : found;
  }

  /**
   * Why pods were refused, of several the first: a status that reports each in turn would be rewritten for ever. Empty
   * while a pod has the claim: the others get events of their own.
   */
  #refusalOf(key: string): Failure | undefined {
    return this.users(key).length > 0 ? undefined : this.#refused.get(key)?.values().next().value;
  }

  #recover(key: string, { network, addresses }: Claim): void {
    const owner = ownerOf(key);
    const held = this.#pods.addressesOf(network, owner);
    const conflict = this.#conflictOf(key);
    // It waits for what others have, and keeps its place.
    if (conflict !== undefined && conflict.addresses.join() === addresses.join()) return;
    this.#conflicts.delete(key);
    if (conflict !== undefined) this.#pods.unkeep(network, owner);
    else if (held !== undefined) {
      // What is held is the truth: a status that differs is written again. Pods may have it of a claim before this one.
      this.#pods.keep(network, owner, held);
      return;
    }
    if (addresses.length === 0) return;
    const problems = this.#pods.keep(network, owner, addresses);
    if (problems.length === 0) return;
    this.#conflicts.set(key, { reason: REASONS.ERR_CM_CONFLICT, message: problems.join('; '), addresses });
  }
}

const failedBy = ({ reason, message }: Failure): ConditionInput => ({
  type: 'IPsAllocated',
  status: 'False',
  reason,
  message,
});

const ALLOCATED: ConditionInput = {
  type: 'IPsAllocated',
  status: 'True',
  reason: 'SuccessfulAllocation',
  message: 'the addresses are those of the claim until it is deleted',
};

/** Of the condition, as the users of IPAMClaims know them. */
const REASONS: Readonly<Record<AllocationErrorCode, string>> = {
  ERR_CM_EXHAUSTED: 'SubnetExhausted',
  ERR_CM_CONFLICT: 'IPAddressConflict',
  ERR_CM_MAC_CONFLICT: 'MACAddressConflict',
  ERR_CM_REQUEST: 'InternalError',
};

const OWNER_PREFIX = 'IPAMClaim ';

const ownerOf = (key: string): string => `${OWNER_PREFIX}${key}`;

const refuse = (message: string): never => {
  throw new AllocationError('ERR_CM_REQUEST', message);
};

const conflict = (message: string): AllocationError => new AllocationError('ERR_CM_CONFLICT', message);

const oldestFirst = (a: ClaimFacts, b: ClaimFacts): number => (ageKey(a) < ageKey(b) ? -1 : 1);

const ageKey = ({ creationTimestamp, key }: ClaimFacts): string => `${creationTimestamp}\u0000${key}`;
