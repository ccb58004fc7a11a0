/** Which ClusterIPs are those of user-defined networks: `host-nftables/host-pod-services.ts` lets their host-network pods to them. */
import { networkFamilies } from '../../../../api/network.ts';
import type { NftItem } from '../../../../datapath/nftables/types.ts';
import { ipFamily } from '../../../../net/ip.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { setName } from '../../../model/registry/nftables.ts';
import { localServiceNetwork } from '../published.ts';

export const serviceClusterIps: FeatureOver<'service'> = {
  name: 'service-cluster-ips',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    const network = localServiceNetwork(service, view);
    if (service === undefined || network?.role !== 'primary') return EMPTY_FRAGMENT;
    // In a family that the network does not have, nobody is there.
    const families = networkFamilies(network);
    const items = service.clusterIps
      .filter((ip) => families.includes(ipFamily(ip)))
      .map((ip): NftItem => {
        const element = { set: setName('tenantClusterIps', ipFamily(ip)), key: ip, comment: key };
        return { kind: 'element', element };
      });
    return { nftables: { items } };
  },
};
