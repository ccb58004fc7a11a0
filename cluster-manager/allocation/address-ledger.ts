/**
 * Addresses, MACs and tunnel ids of the pods of one layer-2 network, which are the cluster's to give: a pod's neighbours
 * are on every node. No I/O and no clock.
 */
import { createHash } from 'node:crypto';
import { gatewayIp, managementIp, type Network, networkFamilies } from '../../api/network.ts';
import { freeAddresses } from '../../net/allocator/addresses.ts';
import { addressOf, type Cidr, cidrContainsIp, cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import { type PortKey, parsePortKey } from '../../net/ids.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { type Mac, macFromBytes, macFromIp } from '../../net/mac.ts';
import { AllocationError } from '../errors.ts';
import {
  type AddressPools,
  addressPools,
  type TakenAddresses,
  takeNext,
  takeRequested,
  withReleased,
  withReserved,
} from './address-pools.ts';
import { createIdLedger, type IdLedger } from './id-ledger.ts';

export interface PodAllocation {
  /** In the order of the network's subnets; empty without IPAM. */
  readonly addresses: readonly InterfaceAddress[];
  readonly mac: Mac;
  readonly tunnelId: PortKey;
}

/** What a pod asked for. */
export interface AddressRequest {
  /** One per subnet, or none. */
  readonly ips: readonly Ip[];
  readonly mac?: Mac | undefined;
}

/** What a pod has according to its annotation. */
export interface HeldAddresses {
  readonly addresses: readonly InterfaceAddress[];
  readonly mac: Mac | undefined;
  readonly tunnelId?: PortKey | undefined;
}

/** How much of a subnet is given out and how much can be: addresses, or subnets of nodes. */
export interface SubnetUsage {
  readonly subnet: Cidr;
  readonly used: number;
  readonly free: bigint;
}

/** Keys 1–9 are the platform's: ports of routers on the network's switch. */
export const FIRST_POD_KEY = 10;

interface Entry {
  readonly addresses: readonly InterfaceAddress[];
  /** Undefined when somebody else has the MAC that was recovered. */
  readonly mac: Mac | undefined;
}

export class AddressLedger {
  readonly #subnetCount: number;
  /** The family whose address the MAC derives from. */
  readonly #macFamily: Family | undefined;
  readonly #keys: IdLedger = createIdLedger({ min: 1, max: 32_767, firstGiven: FIRST_POD_KEY });
  readonly #entries = new Map<string, Entry>();
  readonly #ipHolders = new Map<Ip, string>();
  readonly #macHolders = new Map<Mac, string>();
  /** Of the gateway and the management ports: a pod with one of them would hear what is for all others. */
  readonly #routerMacs: ReadonlySet<Mac>;
  #pools: AddressPools;

  constructor(network: Network) {
    this.#routerMacs = routerMacs(network);
    this.#pools = addressPools(network);
    this.#subnetCount = network.subnets.length;
    this.#macFamily = networkFamilies(network)[0];
  }

  /** How full each subnet is. */
  usage(): readonly SubnetUsage[] {
    return this.#pools.pools.map((pool) => {
      const used = [...this.#ipHolders.keys()].filter((ip) => cidrContainsIp(pool.cidr, ip));
      return { subnet: pool.cidr, used: used.length, free: freeAddresses(pool, used) };
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  owners(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** What an owner holds, also when it is only a part. */
  held(owner: string): HeldAddresses {
    const key = this.#keys.get(owner);
    return {
      addresses: this.#entries.get(owner)?.addresses ?? [],
      mac: this.#entries.get(owner)?.mac,
      tunnelId: key === undefined ? undefined : parsePortKey(key),
    };
  }

  get(owner: string): PodAllocation | undefined {
    const entry = this.#entries.get(owner);
    const key = this.#keys.get(owner);
    if (entry?.mac === undefined || key === undefined || entry.addresses.length !== this.#subnetCount) return undefined;
    return { addresses: entry.addresses, mac: entry.mac, tunnelId: parsePortKey(key) };
  }

  /**
   * Takes note of what a pod has, as much of it as is free.
   * @returns a sentence for each part that is not: somebody else has it, or it is not the network's
   */
  recover(owner: string, held: HeldAddresses): readonly string[] {
    this.release(owner);
    const addresses = held.addresses.map((address) => ({ address, problem: this.#recoverAddress(owner, address) }));
    const macHolder = held.mac === undefined ? undefined : this.#macHolders.get(held.mac);
    const keyHolder = held.tunnelId === undefined ? undefined : this.#keys.recover(owner, held.tunnelId);
    this.#note(
      owner,
      addresses.filter(({ problem }) => problem === undefined).map(({ address }) => address),
      macHolder === undefined ? held.mac : undefined,
    );
    return [
      ...addresses.flatMap(({ problem }) => problem ?? []),
      ...(macHolder === undefined ? [] : [`MAC ${held.mac} belongs to ${macHolder} already`]),
      ...(keyHolder === undefined ? [] : [`tunnel id ${held.tunnelId} belongs to ${keyHolder} already`]),
    ];
  }

  /**
   * All or nothing; the same again for an owner that has something.
   * @throws AllocationError
   */
  assign(owner: string, request: AddressRequest = { ips: [] }): PodAllocation {
    const held = this.get(owner);
    if (held !== undefined) return held;
    if (this.#entries.has(owner)) return this.#completed(owner);
    const { pools, addresses } = this.#take(request);
    const mac = request.mac ?? this.#macOf(owner, addresses);
    if (this.#routerMacs.has(mac)) {
      throw new AllocationError('ERR_CM_REQUEST', `requested MAC ${mac} is that of the network's gateway`);
    }
    const holder = this.#macHolders.get(mac);
    if (holder !== undefined) throw conflict(`MAC ${mac} belongs to ${holder} already`);
    const tunnelId = this.#assignKey(owner);
    this.#pools = pools;
    this.#note(owner, addresses, mac);
    return { addresses, mac, tunnelId };
  }

  /** @returns whether there was something to release */
  release(owner: string): boolean {
    const entry = this.#entries.get(owner);
    this.#keys.release(owner);
    if (entry === undefined) return false;
    for (const address of entry.addresses) {
      this.#pools = withReleased(this.#pools, address);
      this.#ipHolders.delete(addressOf(address));
    }
    if (entry.mac !== undefined) this.#macHolders.delete(entry.mac);
    return this.#entries.delete(owner);
  }

  /** Recovered without a tunnel id: an annotation from before there were any. */
  #completed(owner: string): PodAllocation {
    const entry = this.#entries.get(owner);
    if (entry?.mac === undefined || entry.addresses.length !== this.#subnetCount) {
      throw conflict('what its annotation says belongs to another pod');
    }
    return { addresses: entry.addresses, mac: entry.mac, tunnelId: this.#assignKey(owner) };
  }

  #recoverAddress(owner: string, address: InterfaceAddress): string | undefined {
    const ip = addressOf(address);
    const holder = this.#ipHolders.get(ip);
    if (holder === owner) return undefined;
    if (holder !== undefined) return `address ${ip} belongs to ${holder} already`;
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
      (ip) => !needsMac || ipFamily(ip) !== this.#macFamily || this.#isFreeMac(macFromIp(ip)),
    );
  }

  #isFreeMac(mac: Mac): boolean {
    return !this.#macHolders.has(mac) && !this.#routerMacs.has(mac);
  }

  /** Without addresses it is a hash of the owner, rehashed until nobody has it. */
  #macOf(owner: string, addresses: readonly InterfaceAddress[]): Mac {
    const source = addresses.find((address) => cidrFamily(address) === this.#macFamily);
    if (source !== undefined) return macFromIp(addressOf(source));
    for (let round = 0; ; round += 1) {
      const hash = createHash('sha256').update(`${owner}#${round}`).digest();
      const mac = macFromBytes(Uint8Array.of(0x0a, 0x58, ...hash.subarray(0, 4)));
      if (this.#isFreeMac(mac)) return mac;
    }
  }

  #assignKey(owner: string): PortKey {
    try {
      return parsePortKey(this.#keys.assign(owner));
    } catch (cause) {
      throw new AllocationError('ERR_CM_EXHAUSTED', 'the network has no tunnel id left', { cause });
    }
  }

  #note(owner: string, addresses: readonly InterfaceAddress[], mac: Mac | undefined): void {
    this.#entries.set(owner, { addresses, mac });
    for (const address of addresses) this.#ipHolders.set(addressOf(address), owner);
    if (mac !== undefined) this.#macHolders.set(mac, owner);
  }
}

const routerMacs = (network: Network): Set<Mac> => {
  if (network.role !== 'primary') return new Set();
  return new Set(
    network.subnets.flatMap(({ cidr }) => [gatewayIp(network, cidr), managementIp(network, cidr)]).map(macFromIp),
  );
};

const conflict = (message: string): AllocationError => new AllocationError('ERR_CM_CONFLICT', message);
