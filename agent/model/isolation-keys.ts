/** What of isolation and of encryption must be in nftables, and for which pod. The chains that let somebody through need not be. */
import { nftItemKey } from '../../datapath/nftables/types.ts';
import type { PodAttachments } from './attachments.ts';
import { isLocked } from './facts.ts';
import { addressElements } from './isolation-elements.ts';
import { NFT_CHAINS } from './registry/nftables.ts';

/** Without these, every process of the node reaches all pods of primary networks. */
export const ISOLATION_CHAIN_KEYS: readonly string[] = (
  ['isolation', 'defaultPort', 'managementIsolation'] as const
).map((which) => `chain ${NFT_CHAINS[which].name}`);

/** Without these, tunnels are not kept to IPsec. */
export const ENCRYPTION_CHAIN_KEYS: readonly string[] = (['tunnelsIn', 'tunnelsInClear'] as const).map(
  (which) => `chain ${NFT_CHAINS[which].name}`,
);

/** Empty: a pod that is not isolated from the node. */
export const isolationKeysOf = ({ pod }: Pick<PodAttachments, 'pod'>): readonly string[] =>
  isLocked(pod) ? [...ISOLATION_CHAIN_KEYS, ...addressElements(pod).map(nftItemKey)] : [];
