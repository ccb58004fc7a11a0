import type { InterfaceAddress } from '../../../net/cidr.ts';

/** An address of a link, as the kernel has it. */
export interface Address {
  readonly link: string;
  readonly address: InterfaceAddress;
  readonly scope: AddressScope;
  /** IPv6 only: duplicate detection still runs, or has found another owner; the address is not used. */
  readonly state: 'valid' | 'tentative' | 'duplicate';
}

export type AddressScope = 'global' | 'site' | 'link' | 'host';

/** An address to be put on a link. IPv6 duplicate detection is skipped: the addresses are ours to give. */
export interface NewAddress {
  readonly link: string;
  readonly address: InterfaceAddress;
}
