/** What of host isolation must be in nftables, and for which pod. The chains that let somebody through need not be. */
import { nftItemKey } from '../../../datapath/nftables/types.ts';
import type { PodAttachments } from '../../model/attachments.ts';
import { isLocked } from '../../model/facts.ts';
import { NFT_CHAINS } from '../../model/registry/nftables.ts';
import { addressElements } from './elements.ts';

/** Without these, every process of the node reaches all pods of primary networks. */
export const ISOLATION_CHAIN_KEYS: readonly string[] = (
  ['isolation', 'defaultPort', 'managementIsolation'] as const
).map((which) => `chain ${NFT_CHAINS[which].name}`);

/** Empty: a pod that is not isolated from the node. */
export const isolationKeysOf = ({ pod }: Pick<PodAttachments, 'pod'>): readonly string[] =>
  isLocked(pod) ? [...ISOLATION_CHAIN_KEYS, ...addressElements(pod).map(nftItemKey)] : [];
