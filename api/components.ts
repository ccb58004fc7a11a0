/** What of a node's daemons the agent and its readers agree on. */

/** Who has to follow for a change of the northbound database to have an effect on packets, those that others need first. */
export const FOLLOWING_COMPONENTS = [
  'openvswitch-db',
  'northbound-db',
  'southbound-db',
  'ovs-vswitchd',
  'ovn-northd',
  'ovn-controller',
] as const;
