/** Keys that every zone must agree on. They derive from ids; what cannot derive is on the NAD. */
import {
  type DatapathKey,
  type NetworkId,
  type NodeId,
  type PortKey,
  parseDatapathKey,
  parsePortKey,
} from '../../../net/ids.ts';

/** Key of the default network's transit switch; a network's own is this plus its id. */
export const TRANSIT_SWITCH_BASE_KEY = 16_711_683;

export const transitSwitchKey = (network: NetworkId): DatapathKey =>
  parseDatapathKey(TRANSIT_SWITCH_BASE_KEY + network);

/** Key of a node's port on a transit switch. */
export const transitPortKey = (node: NodeId): PortKey => parsePortKey(node);
