/** A network's patch port on the gateway bridge, and what of the network flows have to know. */
import { networkMasqueradeAddresses } from '../../../../api/masquerade.ts';
import { networkFamilies } from '../../../../api/network.ts';
import { nodeJoinAddresses } from '../../../../api/network-keys.ts';
import { addressOf, type Cidr, cidrContainsIp, cidrFamily } from '../../../../net/cidr.ts';
import type { NetworkId } from '../../../../net/ids.ts';
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import type { RoutedNetworkFact } from '../../../model/facts.ts';
import { patchPortName } from '../../../model/host-names.ts';
import { CT_MARKS, networkCtMark } from '../../../model/registry/marks.ts';
import type { View } from '../../../model/view.ts';
import { ofNetworkFamilies, routedNetwork } from '../local-network.ts';
import type { BridgeFamily, BridgeSite } from './site.ts';

export interface LocalPatch {
  readonly id: NetworkId;
  readonly port: string;
  readonly isDefault: boolean;
  readonly ctMark: number;
  /** Those that the network and the bridge have. */
  readonly families: readonly PatchFamily[];
  /** In bytes. Absent: the size of replies is not looked at. */
  readonly largestFrame: number | undefined;
}

export interface PatchFamily extends BridgeFamily {
  /** As which the network's packets come out of OVN; absent on the default network, which may have any. */
  readonly masqueradeIp: Ip | undefined;
  /** As which its gateway router sends on what load balancers take; absent where it is the node, and while that is unknown. */
  readonly routerIp: Ip | undefined;
  /** Of the network's pods, on all nodes. */
  readonly podSubnets: readonly Cidr[];
}

/** Undefined where this node has no part of the network. */
export const localPatch = (site: BridgeSite, name: string, view: View): LocalPatch | undefined => {
  const network = routedNetwork(name, view)?.network;
  const families = network && patchFamilies(site, network, view);
  if (network === undefined || families === undefined || families.length === 0) return undefined;
  const isDefault = network.role === 'default';
  return {
    id: network.id,
    port: patchPortName(site.gateway, name, view.node),
    isDefault,
    ctMark: isDefault ? CT_MARKS.default : networkCtMark(network.id),
    families,
    largestFrame: largestFrame(site, network, view),
  };
};

/** Undefined when there are no masquerade addresses for the network, which `gateway-routers` reports. */
const patchFamilies = (site: BridgeSite, network: RoutedNetworkFact, view: View): PatchFamily[] | undefined => {
  const { cluster } = view;
  const isDefault = network.role === 'default';
  const [own, management] = (['gateway', 'management'] as const).map((end) =>
    isDefault ? [] : networkMasqueradeAddresses(cluster, network.id, end),
  );
  if (own === undefined || management === undefined) return undefined;
  const families = networkFamilies(network);
  const routerIps = isDefault ? [] : joinIps(network, view);
  return site.families
    .filter(({ family }) => families.includes(family))
    .map((one) => {
      const ofFamily = (address: Ip): boolean => ipFamily(address) === one.family;
      const podSubnets = network.subnets.map(({ cidr }) => cidr).filter((cidr) => cidrFamily(cidr) === one.family);
      return {
        ...one,
        masqueradeIp: own.find(ofFamily),
        routerIp: routerIps.find(ofFamily),
        podSubnets,
      };
    });
};

const joinIps = (network: RoutedNetworkFact, view: View): readonly Ip[] => {
  const node = view.nodeFact(view.node)?.id;
  const subnets = ofNetworkFamilies(network, network.joinSubnets);
  return (node === undefined ? [] : (nodeJoinAddresses(subnets, node) ?? [])).map(addressOf);
};

const ETHERNET_HEADER = 14;
const VLAN_TAG = 4;

const largestFrame = ({ isLocal, gateway }: BridgeSite, { mtu }: RoutedNetworkFact, view: View): number | undefined =>
  isLocal && view.nodeFact(view.node)?.gatewayMtuSupport !== false
    ? mtu + ETHERNET_HEADER + (gateway.vlanId === 0 ? 0 : VLAN_TAG)
    : undefined;

/** Whether an address may be a pod's: a network may give its pods what others have, too. */
export const mayBePods = ({ families }: LocalPatch, address: Ip): boolean =>
  families.some(({ podSubnets }) => podSubnets.some((subnet) => cidrContainsIp(subnet, address)));

/** A tenant's gateway router does, about its Services, unless it could be a pod of it that does. */
export const speaksAsNode = (patch: LocalPatch): boolean =>
  patch.families.every(({ bridgeIps }) => bridgeIps.every((address) => !mayBePods(patch, address)));
