/** What is said where a localnet cannot be on this node. */

/** Without a full stop: of the network here, and of a pod that selects it. */
export const unmappedNetwork = (network: string, physicalNetwork: string, node: string): string =>
  `network ${network} is not on node ${node}: ovn-bridge-mappings of its Open vSwitch has no bridge for physical network ${physicalNetwork}`;
