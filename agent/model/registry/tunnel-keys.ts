/**
 * Keys of ports that every zone must agree on. Those of datapaths are in `api/network-keys.ts`, because the cluster
 * manager needs them too.
 */
import { type NodeId, type PortKey, parsePortKey } from '../../../net/ids.ts';

/** Key of a node's port on a transit switch. */
export const transitPortKey = (node: NodeId): PortKey => parsePortKey(node);
