/**
 * Condition `NetworkUnavailable` of a Node. The agent of the node writes it. A stopped agent cannot, and what it said last would
 * stand for good: then the cluster manager does, with reasons of its own, by which a returning agent knows to take over.
 */

export const NETWORK_UNAVAILABLE = 'NetworkUnavailable';

/** Of the agent: packets of a network do not fit the tunnels of the node. Small ones pass, so it keeps no pod away. */
export const NETWORK_MTU_TOO_LARGE = 'NetworkMTUTooLarge';

export const OUR_CONDITIONS: readonly string[] = [NETWORK_UNAVAILABLE, NETWORK_MTU_TOO_LARGE];

/** Reasons of the agent, False and True. The cluster manager knows by them whose condition it replaces. */
export const AGENT_REASONS = {
  up: 'OVNUDNIsUp',
  openVSwitchDatabase: 'OpenVSwitchDatabaseFailed',
  northboundDatabase: 'NorthboundDatabaseFailed',
  southboundDatabase: 'SouthboundDatabaseFailed',
  vswitchd: 'VswitchdNotResponding',
  northd: 'NorthdNotProcessing',
  ovnController: 'OVNControllerNotProcessing',
  uplink: 'UplinkNotOnBridge',
  other: 'ComponentFailed',
} as const;

export const isOfAgent = (reason: string | undefined): boolean =>
  Object.values<string | undefined>(AGENT_REASONS).includes(reason);

/** Reasons of the cluster manager. The policy ovn-udn-nodes lets it give no others. */
export const SILENT_NODE_REASONS = {
  /** True: nothing programs the node. */
  notReporting: 'AgentNotReporting',
  /** False: no agent is to run there, so no network of ours is missing. */
  excluded: 'NodeExcluded',
} as const;

/** Whether a condition was written by a program of ours. Others write `NetworkUnavailable`, too, and are known by their reasons. */
export const isOurCondition = (type: string, reason: string | undefined): boolean =>
  type === NETWORK_MTU_TOO_LARGE || (type === NETWORK_UNAVAILABLE && (isOfAgent(reason) || isOfSilentNode(reason)));

/** Whether the condition was written in place of the agent. */
export const isOfSilentNode = (reason: string | undefined): boolean =>
  Object.values<string | undefined>(SILENT_NODE_REASONS).includes(reason);
