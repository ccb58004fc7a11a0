/** Whose each address of one layer-2 network is, and thereby the MAC that derives from it. No I/O and no clock. */
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { ipv4FromMac, type Mac, macFromIp } from '../../net/mac.ts';

export class AddressHolders {
  readonly #macFamily: Family | undefined;
  readonly #owners = new Map<Ip, string>();
  /** Of IPv6 addresses, whose MACs are hashes; those of IPv4 addresses say which address it is. */
  readonly #byMac = new Map<Mac, Ip>();

  /** @param macFamily of the addresses that MACs derive from */
  constructor(macFamily: Family | undefined) {
    this.#macFamily = macFamily;
  }

  get(ip: Ip): string | undefined {
    return this.#owners.get(ip);
  }

  ips(): readonly Ip[] {
    return [...this.#owners.keys()];
  }

  set(ip: Ip, owner: string): void {
    this.#owners.set(ip, owner);
    if (this.#isHashed(ip)) this.#byMac.set(macFromIp(ip), ip);
  }

  delete(ip: Ip): void {
    this.#owners.delete(ip);
    if (this.#isHashed(ip)) this.#byMac.delete(macFromIp(ip));
  }

  /** Whose address the MAC derives from, whoever has the MAC itself. */
  ownerByMac(mac: Mac): string | undefined {
    const ip = this.#macFamily === 4 ? ipv4FromMac(mac) : this.#byMac.get(mac);
    return ip === undefined ? undefined : this.#owners.get(ip);
  }

  #isHashed(ip: Ip): boolean {
    return this.#macFamily === 6 && ipFamily(ip) === 6;
  }
}
