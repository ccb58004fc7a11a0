/** Elements of the sets of host isolation: who is isolated. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { type PodFact, podKey } from './facts.ts';
import { setName } from './registry/nftables.ts';

/** Of a pod with a primary network: only the kubelet reaches it. */
export const addressElements = (pod: PodFact): NftItem[] => elementsIn('isolatedPods', pod);

/** Of a pod of the default network: every process of the node reaches it. */
export const defaultPodElements = (pod: PodFact): NftItem[] => elementsIn('defaultPods', pod);

const elementsIn = (which: 'isolatedPods' | 'defaultPods', pod: PodFact): NftItem[] =>
  defaultAddresses(pod).map((ip) => element(setName(which, ipFamily(ip)), ip, podKey(pod)));

/** What it has on the default network. */
export const defaultAddresses = (pod: PodFact): Ip[] =>
  pod.networks.get(DEFAULT_NETWORK_NAME)?.ipAddresses.map(addressOf) ?? [];

export const element = (name: string, key: string, comment: string): NftItem => ({
  kind: 'element',
  element: { set: name, key, comment },
});
