/**
 * Addresses, MACs and tunnel ids of the pods of one layer-2 network or localnet, which are the cluster's to give: a pod's neighbours
 * are on every node. Addresses belong to an owner: most pods are their own; those of a claim or of a virtual machine are
 * had by one pod after the other, or by two while a machine moves. Each port of a layer-2 network has a tunnel id of its own. No I/O and no
 * clock.
 */
import { hasPortKeys, type Network, networkFamilies } from '../../api/network.ts';
import { FIRST_POD_KEY } from '../../api/pod-entry-rules.ts';
import { freeAddresses } from '../../net/allocator/addresses.ts';
import { addressOf, cidrContainsIp, cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import { type PortKey, parsePortKey } from '../../net/ids.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { type Mac, macFromIp } from '../../net/mac.ts';
import { AllocationError } from '../errors.ts';
import { AddressHolders } from './address-holders.ts';
import {
  type AddressPools,
  addressPools,
  heldRefusalOf,
  refusalOf,
  type TakenAddresses,
  takeNext,
  takeRequested,
  withReleased,
  withReserved,
} from './address-pools.ts';
import { Contested } from './contested.ts';
import { createIdLedger, type IdLedger } from './id-ledger.ts';
import { MacRegistry } from './mac-registry.ts';
import type { AddressRequest, HeldAddresses, PodAllocation, Port, SubnetUsage } from './port.ts';

interface Entry {
  readonly addresses: readonly InterfaceAddress[];
  /** Nearly always one, or none. */
  readonly ports: readonly string[];
  readonly isKept: boolean;
}

interface PortEntry {
  readonly port: Port;
  /** Undefined when somebody else has the MAC that was recovered. */
  readonly mac: Mac | undefined;
}

export class AddressLedger {
  readonly #subnetCount: number;
  readonly #hasKeys: boolean;
  /** The family whose address the MAC derives from. */
  readonly #macFamily: Family | undefined;
  readonly #keys: IdLedger = createIdLedger({ min: 1, max: 32_767, firstGiven: FIRST_POD_KEY });
  readonly #entries = new Map<string, Entry>();
  readonly #ports = new Map<string, PortEntry>();
  readonly #ipHolders: AddressHolders;
  readonly #macs: MacRegistry;
  /** By owner. */
  readonly #contestedIps = new Contested<Ip>();
  /** By port. */
  readonly #contestedMacs = new Contested<Mac>();
  readonly #contestedKeys = new Contested<PortKey>();
  #pools: AddressPools;

  constructor(network: Network) {
    this.#macs = new MacRegistry(network);
    this.#pools = addressPools(network);
    this.#subnetCount = network.subnets.length;
    this.#hasKeys = hasPortKeys(network);
    this.#macFamily = networkFamilies(network)[0];
    this.#ipHolders = new AddressHolders(this.#macFamily);
  }

  /** How full each subnet is. */
  usage(): readonly SubnetUsage[] {
    return this.#pools.pools.map((pool) => {
      const used = this.#ipHolders.ips().filter((ip) => cidrContainsIp(pool.cidr, ip));
      return { subnet: pool.cidr, used: used.length, free: freeAddresses(pool, used) };
    });
  }

  /** Changes nothing. @throws AllocationError where the next pod that requests nothing gets no address */
  probe(): void {
    this.#take({ ips: [] });
  }

  /** How many owners there are. */
  get size(): number {
    return this.#entries.size;
  }

  ports(): readonly Port[] {
    return [...this.#ports.values()].map(({ port }) => port);
  }

  ownerOf(id: string): string | undefined {
    return this.#ports.get(id)?.port.owner;
  }

  holderOf(ip: Ip): string | undefined {
    return this.#ipHolders.get(ip);
  }

  /** The ports that have the addresses of an owner, in the order in which they got them. */
  portsOf(owner: string): readonly Port[] {
    return (this.#entries.get(owner)?.ports ?? []).flatMap((id) => this.#ports.get(id)?.port ?? []);
  }

  /** Owners that keep what they have without ports, too. */
  kept(): readonly string[] {
    return [...this.#entries].flatMap(([owner, { isKept }]) => (isKept ? [owner] : []));
  }

  addressesOf(owner: string): readonly InterfaceAddress[] | undefined {
    return this.#entries.get(owner)?.addresses;
  }

  /** What a port holds, also when it is only a part. */
  held(id: string): HeldAddresses {
    const entry = this.#ports.get(id);
    const key = this.#keys.get(id);
    return {
      addresses: (entry === undefined ? undefined : this.addressesOf(entry.port.owner)) ?? [],
      mac: entry?.mac,
      tunnelId: key === undefined ? undefined : parsePortKey(key),
    };
  }

  get(id: string): PodAllocation | undefined {
    const { addresses, mac, tunnelId } = this.held(id);
    const lacksKey = this.#hasKeys && tunnelId === undefined;
    if (mac === undefined || lacksKey || addresses.length !== this.#subnetCount) return undefined;
    return { addresses, mac, tunnelId };
  }

  /**
   * Takes note of what a port has, as much of it as is free. Where its owner has other addresses, the port is its own.
   * @returns a message for each part that is not: somebody else has it, or it is not the network's, or not for pods
   */
  recover(port: Port, held: HeldAddresses): readonly string[] {
    this.release(port.id);
    const shared = this.addressesOf(port.owner);
    if (shared !== undefined && !sameAddresses(shared, held.addresses)) {
      return this.recover({ ...port, owner: port.id, isKept: false }, held);
    }
    const problems = [
      ...(shared === undefined ? this.#recoverAddresses(port.owner, held.addresses) : []),
      ...held.addresses.flatMap((address) => heldRefusalOf(this.#pools, address) ?? []),
    ];
    const tunnelId = this.#hasKeys ? held.tunnelId : undefined;
    const macHolder = held.mac === undefined ? undefined : this.#macs.holderOf(held.mac, port.machine);
    const keyHolder = tunnelId === undefined ? undefined : this.#keys.recover(port.id, tunnelId);
    this.#attach(port, macHolder === undefined ? held.mac : undefined);
    if (held.mac !== undefined && macHolder !== undefined) this.#contestedMacs.add(held.mac, port.id);
    if (tunnelId !== undefined && keyHolder !== undefined) this.#contestedKeys.add(tunnelId, port.id);
    return [
      ...problems,
      ...(macHolder === undefined ? [] : [`MAC ${held.mac} already belongs to ${macHolder}`]),
      ...(keyHolder === undefined ? [] : [`tunnel id ${tunnelId} already belongs to ${keyHolder}`]),
    ];
  }

  /** Takes note of what an owner has without any port. @returns a message for each address that it can't have */
  keep(owner: string, addresses: readonly InterfaceAddress[]): readonly string[] {
    const held = this.#entries.get(owner);
    if (held === undefined) {
      // No pod runs with them, so what is not for pods goes to none.
      const refusals = addresses.flatMap((address) => refusalOf(this.#pools, addressOf(address)) ?? []);
      const allowed = addresses.filter((address) => refusalOf(this.#pools, addressOf(address)) === undefined);
      const problems = this.#recoverAddresses(owner, allowed);
      this.#change(owner, { isKept: true });
      return [...refusals, ...problems];
    }
    this.#change(owner, { isKept: true });
    if (sameAddresses(held.addresses, addresses)) return [];
    return [`${owner} has ${held.addresses.join(', ')}, not ${addresses.join(', ')}`];
  }

  /** What was refused in the ledger of before goes on waiting here. To be called when all that is held is noted. */
  inherit(before: AddressLedger): void {
    this.#contestedIps.inherit(before.#contestedIps, (ip, owner) => {
      return this.#ipHolders.get(ip) !== undefined && this.#entries.has(owner);
    });
    this.#contestedMacs.inherit(before.#contestedMacs, (_, id) => this.#ports.has(id));
    this.#contestedKeys.inherit(before.#contestedKeys, (_, id) => this.#ports.has(id));
  }

  /** The owner goes: what no port has is free. @returns whether something is */
  unkeep(owner: string): boolean {
    if (!this.#entries.has(owner)) return false;
    this.#change(owner, { isKept: false });
    return this.#releaseUnused(owner);
  }

  /**
   * All or nothing; the same again for a port that has something.
   * @throws AllocationError
   */
  assign(port: Port, request: AddressRequest = { ips: [] }): PodAllocation {
    const held = this.get(port.id);
    if (held !== undefined) return held;
    const before = this.#ports.get(port.id);
    const shared = this.#entries.get(before?.port.owner ?? port.owner);
    if (before !== undefined && (before.mac === undefined || shared?.addresses.length !== this.#subnetCount)) {
      if (this.#isRefused(before.port)) {
        throw new AllocationError('ERR_CM_CONFLICT', 'its annotation holds the addresses of another pod');
      }
      // Its annotation had only a part that could be read, and is gone.
      this.release(port.id);
      return this.assign(port, request);
    }
    const { pools, addresses } =
      shared === undefined
        ? this.#take(request)
        : this.#share(port.owner, shared, before === undefined ? request : { ips: [] });
    const mac = before?.mac ?? this.#chooseMac(port, request, addresses);
    const tunnelId = this.#hasKeys ? this.#assignKey(port.id) : undefined;
    this.#pools = pools;
    if (shared === undefined) {
      for (const address of addresses) this.#ipHolders.set(addressOf(address), port.owner);
      this.#note(port.owner, addresses);
    }
    if (before === undefined) this.#attach(port, mac);
    return { addresses, mac, tunnelId };
  }

  /** @returns whether there was something to release: others may have it now, or take the port's place */
  release(id: string): boolean {
    const entry = this.#ports.get(id);
    if (entry === undefined) {
      this.#keys.release(id);
      return false;
    }
    const { tunnelId } = this.held(id);
    this.#keys.release(id);
    this.#ports.delete(id);
    this.#contestedMacs.forget(id);
    this.#contestedKeys.forget(id);
    if (tunnelId !== undefined) this.#passOnKey(tunnelId);
    if (entry.mac !== undefined) {
      this.#macs.release(entry.mac, id);
      this.#passOnMac(entry.mac);
    }
    const { owner } = entry.port;
    this.#change(owner, { ports: (this.#entries.get(owner)?.ports ?? []).filter((other) => other !== id) });
    this.#releaseUnused(owner);
    return true;
  }

  /** Somebody else has something that it runs with. */
  #isRefused({ id, owner }: Port): boolean {
    return this.#contestedIps.has(owner) || this.#contestedMacs.has(id);
  }

  #recoverAddresses(owner: string, addresses: readonly InterfaceAddress[]): string[] {
    const tried = addresses.map((address) => ({ address, problem: this.#recoverAddress(owner, address) }));
    const taken = tried.filter(({ problem }) => problem === undefined).map(({ address }) => address);
    this.#note(owner, taken);
    return tried.flatMap(({ problem }) => problem ?? []);
  }

  #recoverAddress(owner: string, address: InterfaceAddress): string | undefined {
    const ip = addressOf(address);
    const holder = this.#ipHolders.get(ip);
    if (holder === owner) return undefined;
    if (holder !== undefined) {
      this.#contestedIps.add(ip, owner);
      return `address ${ip} already belongs to ${holder}`;
    }
    const pools = withReserved(this.#pools, ip);
    if (pools === undefined) return `address ${address} is not in the subnets of the network`;
    this.#pools = pools;
    this.#ipHolders.set(ip, owner);
    return undefined;
  }

  #take(request: AddressRequest): TakenAddresses {
    if (request.ips.length > 0) return takeRequested(this.#pools, request.ips, (ip) => this.#ipHolders.get(ip));
    // MACs of IPv6 addresses are hashes, and a pod may have asked for the MAC that belongs to another address.
    const needsMac = request.mac === undefined;
    return takeNext(
      this.#pools,
      (ip) => !needsMac || ipFamily(ip) !== this.#macFamily || this.#macs.isFree(macFromIp(ip)),
    );
  }

  /** What the owner has already: a port may ask for that, and for nothing else. */
  #share(owner: string, { addresses }: Entry, { ips }: AddressRequest): TakenAddresses {
    if (addresses.length !== this.#subnetCount) {
      throw new AllocationError('ERR_CM_CONFLICT', `${owner} lacks some of its addresses: others hold them`);
    }
    const own = addresses.map(addressOf);
    if (ips.length > 0 && (ips.length !== own.length || !ips.every((ip) => own.includes(ip)))) {
      throw new AllocationError(
        'ERR_CM_REQUEST',
        `${ips.join(', ')} are requested, but ${owner} has ${own.join(', ')}`,
      );
    }
    return { pools: this.#pools, addresses };
  }

  #chooseMac(port: Port, request: AddressRequest, addresses: readonly InterfaceAddress[]): Mac {
    const shared = this.portsOf(port.owner).flatMap(({ id }) => this.#ports.get(id)?.mac ?? [])[0];
    const mac = request.mac ?? shared ?? this.#macOf(port.id, addresses);
    if (this.#macs.isOwn(mac)) {
      throw new AllocationError('ERR_CM_REQUEST', `requested MAC ${mac} is that of the network's gateway`);
    }
    const holder = this.#macs.holderOf(mac, port.machine) ?? this.#derivedHolder(mac, port);
    if (holder === undefined) return mac;
    throw new AllocationError('ERR_CM_MAC_CONFLICT', `MAC ${mac} already belongs to ${holder}`);
  }

  /**
   * Whose address a MAC derives from: a claim without a pod holds no MAC, and its next pod would find its own taken.
   * Ports of one machine may have one MAC.
   */
  #derivedHolder(mac: Mac, port: Port): string | undefined {
    const owner = this.#ipHolders.ownerByMac(mac);
    if (owner === undefined || owner === port.owner) return undefined;
    const ports = this.portsOf(owner);
    return ports.length > 0 && ports.every(({ machine }) => machine === port.machine) ? undefined : owner;
  }

  #macOf(port: string, addresses: readonly InterfaceAddress[]): Mac {
    const source = addresses.find((address) => cidrFamily(address) === this.#macFamily);
    return source === undefined ? this.#macs.freeHashOf(port) : macFromIp(addressOf(source));
  }

  #assignKey(port: string): PortKey {
    try {
      return parsePortKey(this.#keys.assign(port));
    } catch (cause) {
      throw new AllocationError('ERR_CM_EXHAUSTED', 'the network has no tunnel id left', { cause });
    }
  }

  /** @param addresses that are the owner's */
  #note(owner: string, addresses: readonly InterfaceAddress[]): void {
    this.#entries.set(owner, { addresses, ports: [], isKept: false });
  }

  #attach(port: Port, mac: Mac | undefined): void {
    this.#ports.set(port.id, { port, mac });
    if (mac !== undefined) this.#macs.take(mac, port.id, port.machine);
    const entry = this.#entries.get(port.owner);
    this.#change(port.owner, {
      ports: [...(entry?.ports ?? []), port.id],
      isKept: entry?.isKept === true || port.isKept === true,
    });
  }

  #change(owner: string, changes: Partial<Entry>): void {
    const entry = this.#entries.get(owner);
    if (entry !== undefined) this.#entries.set(owner, { ...entry, ...changes });
  }

  #releaseUnused(owner: string): boolean {
    const entry = this.#entries.get(owner);
    if (entry === undefined || entry.isKept || entry.ports.length > 0) return false;
    this.#entries.delete(owner);
    this.#contestedIps.forget(owner);
    for (const address of entry.addresses) this.#releaseAddress(address);
    return true;
  }

  /** To the oldest of those that were refused it, or to nobody. */
  #releaseAddress(address: InterfaceAddress): void {
    const ip = addressOf(address);
    const [next] = this.#contestedIps.of(ip);
    if (next === undefined) {
      this.#pools = withReleased(this.#pools, address);
      this.#ipHolders.delete(ip);
      return;
    }
    this.#contestedIps.remove(ip, next);
    this.#ipHolders.set(ip, next);
    const held = [...(this.addressesOf(next) ?? []), address];
    const inOrder = this.#pools.pools.flatMap(({ cidr }) => held.filter((one) => cidrContainsIp(cidr, addressOf(one))));
    this.#change(next, { addresses: inOrder });
  }

  #passOnMac(mac: Mac): void {
    for (const id of this.#contestedMacs.of(mac)) {
      const entry = this.#ports.get(id);
      if (entry === undefined || this.#macs.holderOf(mac, entry.port.machine) !== undefined) continue;
      this.#contestedMacs.remove(mac, id);
      this.#ports.set(id, { ...entry, mac });
      this.#macs.take(mac, id, entry.port.machine);
    }
  }

  #passOnKey(key: PortKey): void {
    const next = this.#contestedKeys.of(key).find((id) => this.#keys.get(id) === undefined);
    if (next === undefined) return;
    this.#contestedKeys.remove(key, next);
    this.#keys.recover(next, key);
  }
}

const sameAddresses = (a: readonly InterfaceAddress[], b: readonly InterfaceAddress[]): boolean =>
  a.length === b.length && a.every((address) => b.includes(address));
