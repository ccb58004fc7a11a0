/**
 * Nobody but the host itself begins anything with pods by the host's stack: what the host forwards to a management port is
 * only what belongs to a connection that came out of it, and what a service has translated. Without this a packet for a pod's
 * address that arrives at the node would be forwarded with the management port's address as its source, which isolation takes
 * for the kubelet's. Into the default network it goes only to who is known there.
 *
 * Nor does the host forward what begins something with masquerade addresses, which only the node and OVN have: what a pod sends
 * to OVN's own one would go round between the host and the default network's gateway router until its hop limit is used up. No
 * interface is named for it: what comes by a management port has its VRF as the interface here (Documentation/networking/vrf.rst).
 *
 * What is sent to a tunnel of a node is dropped whoever sends it, and whatever a service has made of its destination.
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { DEFAULT_NETWORK_ID } from '../../../net/ids.ts';
import { managementLinkName } from '../../model/host-names.ts';
import type { BridgeFamily } from '../shared/bridge/site.ts';
import { notByPodLinks, throughDefaultPort } from '../shared/nftables/pods.ts';
import { chain, ipWord } from '../shared/nftables/text.ts';
import { toTunnels } from './tunnels.ts';

interface ForwardingOptions {
  readonly families: readonly BridgeFamily[];
  /** Pods leave by the gateway bridge: by the default management port they only come to the host itself, and to Services. */
  readonly isShared: boolean;
  /** Tunnels between nodes are. */
  readonly isEncrypted: boolean;
}

export const forwardingItems = ({ families, isShared, isEncrypted }: ForwardingOptions): NftItem[] => [
  chain('forwarding', [
    notByPodLinks(),
    throughDefaultPort(),
    ...toTunnels(isEncrypted),
    // Its hop limit says that it has come from this link (RFC 4861 §7.1): nobody believes it elsewhere. What the host has routed has a lower
    // one here; a bridge of the host whose packets come here, too (br_netfilter), has not taken any off.
    'ip6 hoplimit < 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } drop',
    'ct state established,related accept',
    'ct status dnat accept',
    ...(isShared ? [`iifname "${managementLinkName(DEFAULT_NETWORK_ID)}" drop`] : []),
    ...families.map(({ family, masqueradeSubnet }) => `${ipWord(family)} daddr ${masqueradeSubnet} drop`),
    'oifname != "ovn-k8s-mp*" accept',
    'drop',
  ]),
];
