/** The rules of ports of pods at loopback addresses: the same however many there are. */
import { hostPortSubnet, MASQUERADE_OFFSETS } from '../../../../api/cluster-config.ts';
import { addressAt, cidrFamily } from '../../../../net/cidr.ts';
import type { FeatureOver } from '../../../model/fragment.ts';
import { chain } from '../../shared/nftables/text.ts';

/**
 * Before conntrack (-200): answers to such connections are for the masquerade address as they come in. CVE-2020-8558 is what `route_localnet`
 * opens without it, and that setting stays when its pods are gone: this does, too, also without node ports or a known gateway.
 */
export const hostPortChains: FeatureOver<'zone'> = {
  name: 'host-port-chains',
  over: 'zone',
  render: (_, view) => {
    const guard = chain('hostPortLoopback', ['iifname != "lo" ip daddr 127.0.0.0/8 drop']);
    if (view.gateway(view.node)?.nodePortEnable !== true) return { nftables: { items: [guard] } };
    const subnets = view.cluster.masqueradeSubnets.filter((subnet) => cidrFamily(subnet) === 4);
    const asHost = subnets.map((subnet) => {
      const to = addressAt(subnet, MASQUERADE_OFFSETS.host);
      return `ip saddr 127.0.0.0/8 ip daddr ${hostPortSubnet(subnet)} snat ip to ${to}`;
    });
    return { nftables: { items: [guard, chain('hostPortSnat', asHost)] } };
  },
};
