/**
 * The localnets of each physical network and VLAN. Each has addresses of its own to give, whatever others give: two with the same ones on
 * one wire would give two pods the same address, and the MAC that derives from it. The first has them. No I/O and no clock.
 */
import type { Network } from '../../api/network.ts';
import { sharedSubnets } from '../../api/network-overlap.ts';
import { MultiMap } from '../../base/multi-map.ts';

interface Entered {
  readonly network: Network;
  readonly number: number;
}

export class Wires {
  readonly #entered = new Map<string, Entered>();
  readonly #byWire = new MultiMap<string>();
  /** Those that somebody else is in the way of. */
  readonly #refused = new Map<string, Network>();
  #next = 0;

  /** @returns why a network may not have its subnets; undefined also for what is no localnet, or none at all. */
  refuse(network: Network | undefined): string | undefined {
    if (network === undefined) return undefined;
    const refusal = this.#conflictOf(network);
    if (refusal === undefined) this.#refused.delete(network.name);
    else this.#refused.set(network.name, network);
    return refusal;
  }

  /** The network works from now on, or as it is now. One that was there before keeps its place. */
  enter(network: Network): void {
    const { name } = network;
    const before = this.#entered.get(name);
    this.#leaveWire(before?.network);
    const wire = wireOf(network);
    if (wire === undefined) return;
    const isMoved = before === undefined || wireOf(before.network) !== wire;
    this.#entered.set(name, { network, number: isMoved ? this.#next++ : before.number });
    this.#byWire.add(wire, name);
  }

  /** Absent is success. */
  leave(name: string): void {
    this.#leaveWire(this.#entered.get(name)?.network);
    this.#refused.delete(name);
  }

  /** Networks that nobody is in the way of any more, first come first. */
  freed(): string[] {
    return [...this.#refused].filter(([, network]) => this.refuse(network) === undefined).map(([name]) => name);
  }

  #conflictOf(network: Network): string | undefined {
    const wire = wireOf(network);
    if (wire === undefined) return undefined;
    const own = this.#entered.get(network.name);
    for (const name of this.#byWire.get(wire)) {
      const other = this.#entered.get(name);
      if (other === undefined || name === network.name) continue;
      const [shared] = sharedSubnets(network, other.network);
      if (shared === undefined) continue;
      // An older one has what it has, and no more than that.
      const isOlder = own !== undefined && own.number < other.number && wireOf(own.network) === wire;
      if (isOlder && sharedSubnets(own.network, other.network).length > 0) continue;
      return `its pods and those of network ${name} would get the same addresses of ${shared} on ${nameOf(network)}: excludeSubnets of either can leave them to the other`;
    }
    return undefined;
  }

  #leaveWire(network: Network | undefined): void {
    const wire = network && wireOf(network);
    if (network === undefined || wire === undefined) return;
    this.#byWire.delete(wire, network.name);
    this.#entered.delete(network.name);
  }
}

const wireOf = ({ physical }: Network): string | undefined =>
  physical === undefined ? undefined : `${physical.name} ${physical.vlanId ?? ''}`;

const nameOf = ({ physical }: Network): string =>
  `physical network ${physical?.name}${physical?.vlanId === undefined ? '' : `, VLAN ${physical.vlanId}`}`;
