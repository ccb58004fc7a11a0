/** Elements of the sets of host isolation: who is isolated. */
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { addressOf } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { type NetworkFact, type PodFact, podKey } from '../../model/facts.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { NFT_SETS, setName } from '../../model/registry/nftables.ts';

/** Of a pod with a primary network. */
export const addressElements = (pod: PodFact): NftItem[] =>
  defaultAddresses(pod).map((ip) => element(setName('isolatedPods', ipFamily(ip)), ip, podKey(pod)));

/** What it has on the default network. */
export const defaultAddresses = (pod: PodFact): Ip[] =>
  pod.networks.get(DEFAULT_NETWORK_NAME)?.ipAddresses.map(addressOf) ?? [];

export const managementLinkElement = ({ id, name }: Pick<NetworkFact, 'id' | 'name'>): NftItem =>
  element(NFT_SETS.managementLinks.name, `"${managementLinkName(id)}"`, name);

export const element = (name: string, key: string, comment: string): NftItem => ({
  kind: 'element',
  element: { set: name, key, comment },
});
