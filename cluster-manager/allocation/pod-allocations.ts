/** What the pods hold of the layer-2 networks, by network and by pod. No I/O and no clock. */
import type { Network } from '../../api/network.ts';
import {
  AddressLedger,
  type AddressRequest,
  type HeldAddresses,
  type PodAllocation,
  type SubnetUsage,
} from './address-ledger.ts';

export class PodAllocations {
  readonly #ledgers = new Map<string, AddressLedger>();
  /** Pod → NAD key → network. */
  readonly #byPod = new Map<string, Map<string, string>>();

  /** A layer-2 network that is new or has other subnets; pods keep what is still in them. */
  setNetwork(network: Network): void {
    const before = this.#ledgers.get(network.name);
    const ledger = new AddressLedger(network);
    this.#ledgers.set(network.name, ledger);
    if (before === undefined) return;
    for (const owner of before.owners()) ledger.recover(owner, before.held(owner));
  }

  removeNetwork(name: string): void {
    const isEmpty = this.sizeOf(name) === 0;
    this.#ledgers.delete(name);
    if (isEmpty) return;
    for (const networks of this.#byPod.values()) {
      for (const [nadKey, network] of networks) if (network === name) networks.delete(nadKey);
    }
  }

  /**
   * Takes note of what a pod has according to its annotation.
   * @returns sentences for the pod's events
   */
  recover(pod: string, nadKey: string, network: string, held: HeldAddresses): readonly string[] {
    const ledger = this.#ledgers.get(network);
    if (ledger === undefined) return [];
    this.#note(pod, nadKey, network);
    return ledger.recover(ownerOf(pod, nadKey), held);
  }

  /** @throws AllocationError */
  assign(pod: string, nadKey: string, network: string, request: AddressRequest): PodAllocation {
    const ledger = this.#ledgers.get(network);
    if (ledger === undefined) throw new TypeError(`${network} is no layer-2 network`);
    const allocation = ledger.assign(ownerOf(pod, nadKey), request);
    this.#note(pod, nadKey, network);
    return allocation;
  }

  /** Whether the pod holds something, even a part, of the network by this NAD. */
  holds(pod: string, nadKey: string): boolean {
    return this.#byPod.get(pod)?.has(nadKey) ?? false;
  }

  get(pod: string, nadKey: string): PodAllocation | undefined {
    const network = this.#byPod.get(pod)?.get(nadKey);
    return network === undefined ? undefined : this.#ledgers.get(network)?.get(ownerOf(pod, nadKey));
  }

  /** @returns the networks that got something back: what waits for an address of them may try again */
  release(pod: string): readonly string[] {
    const held = [...(this.#byPod.get(pod) ?? [])];
    this.#byPod.delete(pod);
    return held
      .filter(([nadKey, network]) => this.#ledgers.get(network)?.release(ownerOf(pod, nadKey)) === true)
      .map(([, network]) => network);
  }

  usageOf(network: string): readonly SubnetUsage[] {
    return this.#ledgers.get(network)?.usage() ?? [];
  }

  /** How many addresses of the network are held. */
  sizeOf(network: string): number {
    return this.#ledgers.get(network)?.size ?? 0;
  }

  #note(pod: string, nadKey: string, network: string): void {
    const networks = this.#byPod.get(pod) ?? new Map<string, string>();
    this.#byPod.set(pod, networks.set(nadKey, network));
  }
}

const ownerOf = (pod: string, nadKey: string): string => `${pod} (${nadKey})`;
