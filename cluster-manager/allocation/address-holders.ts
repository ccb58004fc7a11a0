/** Whose each address of one layer-2 network is, and thereby the MAC that derives from it. No I/O and no clock. */
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { type Mac, macFromIp } from '../../net/mac.ts';

export class AddressHolders {
  readonly #macFamily: Family | undefined;
  readonly #owners = new Map<Ip, string>();
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
    if (this.#derives(ip)) this.#byMac.set(macFromIp(ip), ip);
  }

  delete(ip: Ip): void {
    this.#owners.delete(ip);
    if (this.#derives(ip)) this.#byMac.delete(macFromIp(ip));
  }

  /** Whose address the MAC derives from, whoever has the MAC itself. */
  ownerByMac(mac: Mac): string | undefined {
    const ip = this.#byMac.get(mac);
    return ip === undefined ? undefined : this.#owners.get(ip);
  }

  #derives(ip: Ip): boolean {
    return ipFamily(ip) === this.#macFamily;
  }
}
