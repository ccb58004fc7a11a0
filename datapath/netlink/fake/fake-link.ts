import type { Mac } from '../../../net/mac.ts';
import type { AddrGenMode } from '../link/types.ts';
import type { FakeNetns } from './fake-netns.ts';

/** A link's state. It changes in place: a peer and two namespaces refer to it. */
export interface FakeLink {
  readonly name: string;
  readonly index: number;
  readonly kind: string | undefined;
  mac: Mac;
  mtu: number;
  group: number;
  up: boolean;
  alias: string | undefined;
  txChecksum: boolean;
  ipv6: FakeIpv6;
  /** What is below `ipv4/conf/NAME` in /proc/sys/net. */
  readonly ipv4: Map<string, string>;
  master: FakeLink | undefined;
  readonly vrfTable: number | undefined;
  peer: { readonly netns: FakeNetns; readonly link: FakeLink } | undefined;
}

export interface FakeIpv6 {
  addrGenMode: AddrGenMode;
  /** What is below `ipv6/conf/NAME` in /proc/sys/net. */
  readonly settings: Map<string, string>;
}

export type NewFakeLink = Pick<FakeLink, 'name' | 'index' | 'kind' | 'mac' | 'mtu' | 'group'> & { vrfTable?: number };

export const newLink = ({ vrfTable, ...fields }: NewFakeLink): FakeLink => ({
  ...fields,
  vrfTable,
  master: undefined,
  ipv4: new Map([
    ['forwarding', '0'],
    ['rp_filter', '0'],
  ]),
  up: false,
  alias: undefined,
  txChecksum: true,
  ipv6: newIpv6(),
  peer: undefined,
});

/** Settings are of a Linux host that forwards nothing. */
export const newIpv6 = (): FakeIpv6 => ({
  addrGenMode: 'eui64',
  settings: new Map([
    ['disable_ipv6', '0'],
    ['accept_ra', '1'],
    ['accept_dad', '1'],
    ['forwarding', '0'],
  ]),
});

/** The kernel takes IPv6 off a link with an MTU below 1280. */
export const ipv6Of = ({ mtu, ipv6 }: FakeLink): FakeIpv6 | undefined => (mtu < 1280 ? undefined : ipv6);

export const hasIpv6 = (link: FakeLink): boolean => ipv6Of(link)?.settings.get('disable_ipv6') === '0';

export const hasCarrier = ({ up, peer }: FakeLink): boolean => up && (peer?.link.up ?? true);
