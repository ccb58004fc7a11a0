/** What the pods hold of the layer-2 networks, by network and by pod. No I/O and no clock. */
import type { Network } from '../../api/network.ts';
import type { InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { AllocationError } from '../errors.ts';
import { AddressLedger } from './address-ledger.ts';
import type { AddressRequest, HeldAddresses, PodAllocation, Port, SubnetUsage } from './port.ts';

/** What a pod has together with others. Nothing: all is its own. */
export type Sharing = Partial<Pick<Port, 'owner' | 'machine' | 'isKept'>>;

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
    for (const owner of before.kept()) ledger.keep(owner, before.addressesOf(owner) ?? []);
    for (const port of before.ports()) ledger.recover(port, before.held(port.id));
    ledger.inherit(before);
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
   * @returns messages for the pod's events
   */
  recover(pod: string, nadKey: string, network: string, held: HeldAddresses, sharing: Sharing = {}): readonly string[] {
    const ledger = this.#ledgers.get(network);
    if (ledger === undefined) return [];
    this.#note(pod, nadKey, network);
    return ledger.recover(portOf(pod, nadKey, sharing), held);
  }

  /** @throws AllocationError */
  assign(pod: string, nadKey: string, network: string, request: AddressRequest, sharing: Sharing = {}): PodAllocation {
    const ledger = this.#ledgers.get(network);
    if (ledger === undefined) throw new TypeError(`${network} is not a layer-2 network`);
    const allocation = ledger.assign(portOf(pod, nadKey, sharing), request);
    this.#note(pod, nadKey, network);
    return allocation;
  }

  /** Takes note of what an owner has without any pod. @returns a message for each address that it can't have */
  keep(network: string, owner: string, addresses: readonly InterfaceAddress[]): readonly string[] {
    return this.#ledgers.get(network)?.keep(owner, addresses) ?? [];
  }

  /** The owner goes; its pods, if there are any, keep what they have. @returns whether something is free now */
  unkeep(network: string, owner: string): boolean {
    return this.#ledgers.get(network)?.unkeep(owner) ?? false;
  }

  addressesOf(network: string, owner: string): readonly InterfaceAddress[] | undefined {
    return this.#ledgers.get(network)?.addressesOf(owner);
  }

  /** The pods that have the addresses of an owner, in the order in which they got them. */
  podsOf(network: string, owner: string): readonly { readonly pod: string; readonly machine: string }[] {
    const ports = this.#ledgers.get(network)?.portsOf(owner) ?? [];
    return ports.map(({ id, machine }) => ({ pod: podOf(id), machine }));
  }

  /** Whose an address is. */
  holderOf(network: string, ip: Ip): string | undefined {
    return this.#ledgers.get(network)?.holderOf(ip);
  }

  /** Whose the addresses are that a pod has. */
  ownersOf(pod: string): readonly string[] {
    const held = [...(this.#byPod.get(pod) ?? [])];
    return held.flatMap(([nadKey, network]) => this.#ledgers.get(network)?.ownerOf(portId(pod, nadKey)) ?? []);
  }

  /** Whether the pod holds something, even a part, of the network by this NAD. */
  holds(pod: string, nadKey: string): boolean {
    return this.#byPod.get(pod)?.has(nadKey) ?? false;
  }

  get(pod: string, nadKey: string): PodAllocation | undefined {
    const network = this.#byPod.get(pod)?.get(nadKey);
    return network === undefined ? undefined : this.#ledgers.get(network)?.get(portId(pod, nadKey));
  }

  /** @returns the networks that got something back: what waits for an address of them may try again */
  release(pod: string): readonly string[] {
    const held = [...(this.#byPod.get(pod) ?? [])];
    this.#byPod.delete(pod);
    return held
      .filter(([nadKey, network]) => this.#ledgers.get(network)?.release(portId(pod, nadKey)) === true)
      .map(([, network]) => network);
  }

  usageOf(network: string): readonly SubnetUsage[] {
    return this.#ledgers.get(network)?.usage() ?? [];
  }

  /** Why the next pod that requests nothing gets no address; undefined: it gets one, or addresses of the network are not given here. */
  shortageOf(network: string): string | undefined {
    try {
      this.#ledgers.get(network)?.probe();
      return undefined;
    } catch (error) {
      if (error instanceof AllocationError) return error.message;
      throw error;
    }
  }

  /** How many owners of addresses the network has. */
  sizeOf(network: string): number {
    return this.#ledgers.get(network)?.size ?? 0;
  }

  #note(pod: string, nadKey: string, network: string): void {
    const networks = this.#byPod.get(pod) ?? new Map<string, string>();
    this.#byPod.set(pod, networks.set(nadKey, network));
  }
}

const portOf = (pod: string, nadKey: string, sharing: Sharing): Port => {
  const id = portId(pod, nadKey);
  return { id, owner: id, machine: id, ...sharing };
};

const portId = (pod: string, nadKey: string): string => `${pod} (${nadKey})`;

const podOf = (id: string): string => id.slice(0, id.indexOf(' '));
