/** Who has which MAC of one layer-2 network. No I/O and no clock. */
import { createHash } from 'node:crypto';
import { gatewayIp, managementIp, type Network } from '../../api/network.ts';
import { type Mac, macFromBytes, macFromIp } from '../../net/mac.ts';

interface Holder {
  readonly port: string;
  /** What runs behind it. */
  readonly machine: string;
}

export class MacRegistry {
  readonly #network: Network;
  #ownMacs: ReadonlySet<Mac> | undefined;
  /** Nearly always one. */
  readonly #holders = new Map<Mac, readonly Holder[]>();

  constructor(network: Network) {
    this.#network = network;
  }

  isOwn(mac: Mac): boolean {
    return this.#own().has(mac);
  }

  isFree(mac: Mac): boolean {
    return !this.#holders.has(mac) && !this.#own().has(mac);
  }

  /** For a port without addresses: a hash of its name, rehashed until nobody has it. */
  freeHashOf(port: string): Mac {
    for (let round = 0; ; round += 1) {
      const hash = createHash('sha256').update(`${port}#${round}`).digest();
      const mac = macFromBytes(Uint8Array.of(0x0a, 0x58, ...hash.subarray(0, 4)));
      if (this.isFree(mac)) return mac;
    }
  }

  /** The port of another machine that has it. Pods of one virtual machine share its MAC while it moves between them. */
  holderOf(mac: Mac, machine: string): string | undefined {
    return this.#holders.get(mac)?.find((holder) => holder.machine !== machine)?.port;
  }

  take(mac: Mac, port: string, machine: string): void {
    this.#holders.set(mac, [...(this.#holders.get(mac) ?? []), { port, machine }]);
  }

  /**
   * Of the gateway and the management ports: a pod with one of them would hear what is for all others. Asked for only where
   * something is given out: some are hashes.
   */
  #own(): ReadonlySet<Mac> {
    this.#ownMacs ??= ownMacs(this.#network);
    return this.#ownMacs;
  }

  /** Absent is success. */
  release(mac: Mac, port: string): void {
    const others = (this.#holders.get(mac) ?? []).filter((holder) => holder.port !== port);
    if (others.length === 0) this.#holders.delete(mac);
    else this.#holders.set(mac, others);
  }
}

const ownMacs = (network: Network): Set<Mac> => {
  if (network.role !== 'primary') return new Set();
  return new Set(
    network.subnets.flatMap(({ cidr }) => [gatewayIp(network, cidr), managementIp(network, cidr)]).map(macFromIp),
  );
};
