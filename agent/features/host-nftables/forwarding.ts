/**
 * Nobody but the host itself begins anything with pods by the host's stack: what the host forwards to a management port is
 * only what belongs to a connection that came out of it, and what a service has translated. Without this a packet for a pod's
 * address that arrives at the node would be forwarded with the management port's address as its source, which isolation takes
 * for the kubelet's. Into the default network it goes only to who is known there.
 *
 * Nor does the host forward what begins something with masquerade addresses, which only the node and OVN have: what a pod sends
 * to OVN's own one would go round between the host and the default network's gateway router until its hop limit is used up. No
 * interface is named for it: what comes by a management port has its VRF as the interface here (Documentation/networking/vrf.rst).
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import type { BridgeFamily } from '../gateway-bridge/site.ts';
import { notByPodLinks, throughDefaultPort } from '../host-isolation/default-port.ts';
import { chain, ipWord } from './text.ts';

export const forwardingItems = (families: readonly BridgeFamily[]): NftItem[] => [
  chain('forwarding', [
    notByPodLinks(),
    throughDefaultPort(),
    'ct state established,related accept',
    'ct status dnat accept',
    ...families.map(({ family, masqueradeSubnet }) => `${ipWord(family)} daddr ${masqueradeSubnet} drop`),
    'oifname != "ovn-k8s-mp*" accept',
    'drop',
  ]),
];
