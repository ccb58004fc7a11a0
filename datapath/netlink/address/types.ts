import type { InterfaceAddress } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';

/** An address of a link, as the kernel has it. */
export interface Address extends AddressDetails {
  readonly link: string;
  readonly address: InterfaceAddress;
  readonly scope: AddressScope;
  /** IPv6 only: duplicate detection still runs, or has found another owner; the address is not used. */
  readonly state: 'valid' | 'tentative' | 'duplicate';
}

/** Beside an address and its prefix length; what is absent is as the kernel has it by itself. */
export interface AddressDetails {
  readonly broadcast?: Ip;
  /** IPv4: another name than the link's, `eth0:1`. */
  readonly label?: string;
  /** The kernel makes no route to its network. */
  readonly noPrefixRoute?: boolean;
  /** Never the source of a new connection unless asked for: its preferred lifetime is over. */
  readonly deprecated?: boolean;
  /** Of the route to its network. */
  readonly metric?: number;
}

export type AddressScope = 'global' | 'site' | 'link' | 'host';

/** An address to be put on a link. IPv6 duplicate detection is skipped unless asked for: the addresses are ours to give. */
export interface NewAddress extends AddressDetails {
  readonly link: string;
  readonly address: InterfaceAddress;
  /** IPv6: ask first whether somebody else has it (RFC 4862), and use it only then. */
  readonly detectDuplicates?: boolean;
}
