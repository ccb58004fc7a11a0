/** Local gateway mode: packets of pods pass through the host, and leave it with its address. */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { addressOf, type Cidr, cidrFamily } from '../../../net/cidr.ts';
import { addressBits } from '../../../net/ip.ts';
import { PORTS_OF_PODS } from '../../model/registry/marks.ts';
import type { BridgeFamily } from '../shared/bridge/site.ts';
import { chain, ipWord, jump } from '../shared/nftables/text.ts';

/** @param podSubnets of the default network on this node */
export const localGatewayItems = (podSubnets: readonly Cidr[], families: readonly BridgeFamily[]): NftItem[] => [
  chain('localGateway', [
    ...families.flatMap(({ family, ovnIp }) => asNode(`${ipWord(family)} saddr ${ovnIp}`)),
    jump('localGatewayPods'),
    jump('localGatewayTenants'),
  ]),
  chain(
    'localGatewayPods',
    podSubnets.flatMap((subnet) => asNode(`${ipWord(cidrFamily(subnet))} saddr ${subnet}`)),
  ),
  chain('localGatewayTenants', families.flatMap(tenantRules)),
];

/** @param whose match of a rule */
const asNode = (whose: string): string[] => [
  `${whose} meta l4proto { tcp, udp, sctp } masquerade to :${PORTS_OF_PODS.first}-${PORTS_OF_PODS.last}`,
  `${whose} masquerade`,
];

/** The host has the first addresses of the masquerade subnet itself. They are the subnet's first /29, or /125. */
const FIXED_BITS = 3;

/** Services see pods by their masquerade address, which identifies their network. */
const tenantRules = ({ family, masqueradeSubnet, balanced }: BridgeFamily): string[] => {
  const ip = ipWord(family);
  const fixed = `${addressOf(masqueradeSubnet)}/${addressBits(family) - FIXED_BITS}`;
  const elsewhere = balanced.map((subnet) => ` ${ip} daddr != ${subnet}`).join('');
  return asNode(`${ip} saddr != ${fixed}${elsewhere} ${ip} saddr ${masqueradeSubnet}`);
};
