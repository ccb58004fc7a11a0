/**
 * The MACs on this node's switches and who holds them. A pod may ask for one on a secondary network; others derive from addresses. No two
 * ports of a switch have the same, and nobody keeps another pod from an address by asking for its MAC.
 */
import { gatewayMac, managementMac, type Network } from '../../../api/network.ts';
import { MultiMap } from '../../../base/multi-map.ts';
import { type Cidr, cidrContainsIp } from '../../../net/cidr.ts';
import { NetError } from '../../../net/errors.ts';
import type { Ip } from '../../../net/ip.ts';
import { ipv4FromMac, type Mac, macFromIp } from '../../../net/mac.ts';

export class MacBook {
  /** By network and MAC: the interfaces that have it, each as `pod nadKey`. Several only when the API says so. */
  readonly #holders = new MultiMap<string>();
  /** By network: those of its router and of the node's own port. */
  readonly #ofNode = new Map<string, readonly (Mac | undefined)[]>();

  setSubnets(network: Network, subnets: readonly Cidr[]): void {
    this.#ofNode.set(network.name, [gatewayMac(network, subnets), managementMac(network, subnets)]);
  }

  hold(network: string, mac: Mac, holder: string): void {
    this.#holders.add(`${network} ${mac}`, holder);
  }

  release(network: string, mac: Mac, holder: string): void {
    this.#holders.delete(`${network} ${mac}`, holder);
  }

  isFree(network: string, mac: Mac): boolean {
    return !this.#holders.has(`${network} ${mac}`);
  }

  /**
   * @param subnets of the node @param ips what the pod that asks is given: their MAC is its own
   * @throws NetError ERR_NET_CONFLICT unless an interface may have the MAC
   */
  refuse(network: string, mac: Mac, subnets: readonly Cidr[], ips: readonly Ip[]): void {
    const conflict = (what: string): NetError => new NetError('ERR_NET_CONFLICT', `requested MAC ${mac} ${what}`, mac);
    const [holder] = this.#holders.get(`${network} ${mac}`);
    if (holder !== undefined) throw conflict(`belongs to pod ${holder.split(' ')[0]}`);
    if (this.#ofNode.get(network)?.includes(mac)) throw conflict('is that of a port of the node');
    const ip = ipv4FromMac(mac);
    if (ip === undefined || ips.includes(ip)) return;
    const subnet = subnets.find((one) => cidrContainsIp(one, ip));
    if (subnet !== undefined)
      throw conflict(`derives from ${ip} of ${subnet}, and is for the pod that has this address`);
  }
}

/** The MAC of a port that has asked for none. */
export const derivedMac = (ips: readonly Ip[]): Mac | undefined => {
  const first = ips.find((ip) => !ip.includes(':')) ?? ips[0];
  return first === undefined ? undefined : macFromIp(first);
};
