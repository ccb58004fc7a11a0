import type { Ip } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';

/** An entry of a link's ARP or neighbour table. */
export interface Neighbour {
  readonly link: string;
  readonly address: Ip;
  /** Undefined while nobody has answered, or on a link without addresses of six bytes. */
  readonly mac: Mac | undefined;
  /** Put there by somebody: the kernel neither asks nor forgets (ip-neighbour(8), `nud permanent`). */
  readonly permanent: boolean;
}

/** A permanent neighbour to be put. */
export interface NewNeighbour {
  readonly link: string;
  readonly address: Ip;
  readonly mac: Mac;
}
