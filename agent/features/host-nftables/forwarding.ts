/**
 * Nobody outside, and no pod of another network, gets into a network by sending to its pods through the host: forwarded to
 * a management port is only what belongs to a connection that came out of it, and what a service has translated. Without
 * this a packet for a pod's address that arrives at the node would be forwarded with the management port's address as its
 * source, which isolation takes for the kubelet's.
 */
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { NFT_CHAINS } from '../../model/registry/nftables.ts';

const { name, hook } = NFT_CHAINS.forwarding;

export const forwardingItems = (): NftItem[] => [
  {
    kind: 'chain',
    chain: {
      name,
      hook,
      rules: [
        'oifname != "ovn-k8s-mp*" accept',
        'ct state established,related accept',
        'ct status dnat accept',
        'drop',
      ],
    },
  },
];
