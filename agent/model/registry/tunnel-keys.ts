/**
 * Keys of ports that every zone must agree on. Those of datapaths are in `api/network-keys.ts`, because the cluster
 * manager needs them too.
 */
import { type NodeId, type PortKey, parsePortKey } from '../../../net/ids.ts';

/** Key of a node's port on a transit switch. */
export const transitPortKey = (node: NodeId): PortKey => parsePortKey(node);

/** Those below are for ports that are the same on every node. */
const FIRST_GATEWAY_KEY = 10;

/** Key of a transit router's port to a node's gateway router. */
export const transitRouterPortKey = (node: NodeId): PortKey => parsePortKey(FIRST_GATEWAY_KEY + node);
