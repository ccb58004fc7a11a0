/** The gateway bridge as flows need to know it, put together once. */
import type { ClusterConfig } from '../../../../api/cluster-config.ts';
import { hostPortSubnet, MASQUERADE_OFFSETS } from '../../../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../../../api/names.ts';
import { type Action, LOCAL_PORT } from '../../../../datapath/openflow/types.ts';
import { addressAt, addressOf, type Cidr, cidrFamily, networkOfInterface } from '../../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip } from '../../../../net/ip.ts';
import type { Mac } from '../../../../net/mac.ts';
import type { GatewayFact } from '../../../model/facts.ts';
import { patchPortName } from '../../../model/host-names.ts';
import type { View } from '../../../model/view.ts';
import { output } from './flow.ts';

export interface BridgeSite {
  readonly gateway: GatewayFact;
  readonly bridge: string;
  readonly mac: Mac;
  readonly uplink: string | undefined;
  readonly isLocal: boolean;
  /** Those in which the bridge has an address, IPv4 first. */
  readonly families: readonly BridgeFamily[];
  readonly defaultPatch: string;
  /**
   * Its conntrack is that of OVS's userspace datapath (`leaving`). So is it while nobody knows: the flows are right everywhere. The
   * datapaths that cannot make advertisements are the kernel's.
   */
  readonly checksTranslation: boolean;
  /** Tunnels between nodes are. */
  readonly isEncrypted: boolean;
}

export interface BridgeFamily {
  readonly family: Family;
  /** The first one: as which connections leave. */
  readonly nodeIp: Ip;
  readonly bridgeIps: readonly Ip[];
  /** Of the neighbours of the node. */
  readonly hostSubnets: readonly Cidr[];
  readonly masqueradeSubnet: Cidr;
  readonly ovnIp: Ip;
  readonly hostIp: Ip;
  readonly serviceSubnets: readonly Cidr[];
  /** All that the host sends to load balancers of gateway routers: Services, and ports of pods. */
  readonly balanced: readonly Cidr[];
}

/** Undefined while the node's gateway is unknown, and where there is none. */
export const bridgeSite = (view: View): BridgeSite | undefined => {
  const gateway = view.gateway(view.node);
  if (gateway === undefined) return undefined;
  const { bridge, mac, uplink, mode } = gateway;
  return {
    gateway,
    bridge,
    mac,
    uplink,
    isLocal: mode === 'local',
    families: bridgeFamilies(gateway, view.cluster),
    defaultPatch: patchPortName(gateway, DEFAULT_NETWORK_NAME, view.node),
    checksTranslation: gateway.cannotAdvertise !== true,
    isEncrypted: view.encryption !== undefined,
  };
};

export const bridgeFamilies = ({ addresses }: GatewayFact, cluster: ClusterConfig): BridgeFamily[] =>
  FAMILIES.flatMap((family): BridgeFamily[] => {
    const own = addresses.filter((address) => cidrFamily(address) === family);
    const [first] = own;
    const masqueradeSubnet = cluster.masqueradeSubnets.find((subnet) => cidrFamily(subnet) === family);
    if (first === undefined || masqueradeSubnet === undefined) return [];
    const serviceSubnets = cluster.serviceSubnets.filter((subnet) => cidrFamily(subnet) === family);
    return [
      {
        family,
        nodeIp: addressOf(first),
        bridgeIps: [...new Set(own.map(addressOf))],
        hostSubnets: [...new Set(own.map(networkOfInterface))],
        masqueradeSubnet,
        ovnIp: addressAt(masqueradeSubnet, MASQUERADE_OFFSETS.ovn),
        hostIp: addressAt(masqueradeSubnet, MASQUERADE_OFFSETS.host),
        serviceSubnets,
        balanced: [...serviceSubnets, hostPortSubnet(masqueradeSubnet)],
      },
    ];
  });

/** Matches what is in the bridge's VLAN: patch ports and the uplink are trunks, the host's port is not. */
export const inVlan = ({ gateway: { vlanId } }: BridgeSite): Readonly<Record<string, string>> =>
  vlanId === 0 ? {} : { dl_vlan: String(vlanId) };

/** The same, and nothing of another VLAN where the bridge has none: without a tag (ovs-fields(7), `vlan_tci`). */
export const inVlanOnly = (site: BridgeSite): Readonly<Record<string, string>> =>
  site.gateway.vlanId === 0 ? { vlan_tci: '0x0000/0x1fff' } : inVlan(site);

/** Of packets that match `inVlan`. */
export const toHost = ({ gateway: { vlanId } }: BridgeSite): readonly Action[] => [
  ...(vlanId === 0 ? [] : ['pop_vlan']),
  output(LOCAL_PORT),
];

/** From the host to a trunk. ovs-fields(7): the bit 0x1000 of `vlan_vid` says that there is a VLAN. */
export const toTrunk = ({ gateway: { vlanId } }: BridgeSite, port: string): readonly Action[] => [
  ...(vlanId === 0 ? [] : ['push_vlan:0x8100', `set_field:${0x1000 | vlanId}->vlan_vid`]),
  output(port),
];

/**
 * To a gateway router, for a Service. All gateway routers have the node's MAC, and so has what the host and they send: the external
 * switch would not let a refusal, which goes back to whom it came from, out again. So the source is the neighbour that it was sent to.
 */
export const asNeighbour = ({ mac }: Pick<BridgeSite, 'mac'>): readonly Action[] => [
  'move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[]',
  `set_field:${mac}->eth_dst`,
];
