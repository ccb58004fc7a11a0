/**
 * What our nftables table has besides isolation and services: addresses as which pods and the host appear to each other,
 * and marks of networks. The addresses of what comes out of the gateway bridge are translated there, not here.
 */

import { hostPortSubnet } from '../../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { managementIp } from '../../../api/network.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { addressOf } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { GatewayFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { networkPacketMark } from '../../model/registry/marks.ts';
import { markChainName, setName } from '../../model/registry/nftables.ts';
import type { View } from '../../model/view.ts';
import { bridgeFamilies } from '../shared/bridge/site.ts';
import { routedNetwork } from '../shared/local-network.ts';
import { markText } from '../shared/nftables/text.ts';
import { forwardingItems } from './forwarding.ts';
import { hostPodServiceItems } from './host-pod-services.ts';
import { localGatewayItems } from './local-gateway.ts';
import { managementInItems, managementIps, managementSources } from './management-in.ts';
import { managementSnatItems } from './management-snat.ts';
import { pathMtuItems } from './path-mtu.ts';
import { tenantServiceItems } from './tenant-services.ts';
import { nodeElements, tunnelItems } from './tunnels.ts';

export const hostNftables: FeatureOver<'zone'> = {
  name: 'host-nftables',
  over: 'zone',
  render: (_, view) => {
    const local = routedNetwork(DEFAULT_NETWORK_NAME, view);
    const gateway = view.gateway(view.node);
    const subnets = local?.subnets ?? [];
    const addresses = local === undefined ? [] : subnets.map((subnet) => managementIp(local.network, subnet));
    const isEncrypted = view.encryption !== undefined;
    const families = gateway === undefined ? [] : bridgeFamilies(gateway, view.cluster);
    const items: NftItem[] = [
      ...managementSnatItems(addresses),
      ...tenantServiceItems(gateway?.nodePortEnable === true ? nodeAddresses(gateway, view) : []),
      ...hostPodServiceItems([...view.cluster.serviceSubnets, ...view.cluster.masqueradeSubnets.map(hostPortSubnet)]),
      ...pathMtuItems(),
      ...tunnelItems({ bridge: gateway?.bridge, isEncrypted }),
      ...managementInItems(local?.network.subnets.map(({ cidr }) => cidr) ?? [], isEncrypted),
      ...forwardingItems({ families, isShared: gateway?.mode === 'shared', isEncrypted }),
      ...(gateway?.mode === 'local' ? localGatewayItems(subnets, families) : []),
    ];
    return { nftables: { items } };
  },
};

/** Those that others may use: the same as OVN's load balancers have. */
const nodeAddresses = ({ addresses }: GatewayFact, view: View): Ip[] => [
  ...new Set([...addresses, ...view.hostAddresses(view.node)].map(addressOf)),
];

/** A network's mark: what is for a Service of it jumps here. */
export const hostNftablesNetwork: FeatureOver<'network'> = {
  name: 'host-nftables-network',
  over: 'network',
  render: ({ network: name }, view) => {
    const local = routedNetwork(name, view);
    if (local === undefined) return EMPTY_FRAGMENT;
    const { network, subnets } = local;
    const mark = networkPacketMark(network.id);
    return {
      nftables: {
        items: [
          {
            kind: 'chain',
            chain: {
              name: markChainName(mark),
              comment: `${name}: UDN packet marking`,
              rules: [`meta mark set ${markText(mark)}`],
            },
          },
          ...(network.role === 'primary'
            ? [...managementSources(network, view.cluster), ...managementIps(network, subnets)]
            : []),
        ],
      },
    };
  },
};

/** Addresses of every node, and of every other one. */
export const remoteNodes: FeatureOver<'node'> = {
  name: 'remote-nodes',
  over: 'node',
  render: ({ node }, view) => {
    const others = node === view.node ? [] : view.hostAddresses(node);
    const items = others.map((address): NftItem => {
      const key = addressOf(address);
      return { kind: 'element', element: { set: setName('remoteNodes', ipFamily(key)), key } };
    });
    return { nftables: { items: [...items, ...nodeElements(node, view)] } };
  },
};
