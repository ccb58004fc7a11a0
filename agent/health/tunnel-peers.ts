/** The other nodes of the default network, by what the cluster manager and their agents have published. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { managementIp } from '../../api/network.ts';
import type { FactStore } from '../model/fact-store.ts';
import { nodeSubnetsId } from '../model/facts.ts';
import type { TunnelPeer } from './tunnels.ts';

/** One address of each; without nodes whose agent has published no chassis, to which no tunnel goes. */
export const tunnelPeers = (facts: FactStore, node: string): readonly TunnelPeer[] => {
  const network = facts.get('network', DEFAULT_NETWORK_NAME);
  if (network === undefined) return [];
  return [...facts.ids('node')].flatMap((name): TunnelPeer[] => {
    const fact = facts.get('node', name);
    const [subnet] = facts.get('nodeSubnets', nodeSubnetsId(name, DEFAULT_NETWORK_NAME)) ?? [];
    if (name === node || fact?.chassisId === undefined || subnet === undefined) return [];
    return [{ node: name, address: managementIp(network, subnet), encapIps: fact.encapIps }];
  });
};
