/** `udnctl networks`: the networks of this node. */

import type { NetworkStatus } from '../../api/agent-status.ts';
import { hasClusterIpam } from '../../api/network.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

export const listNetworks = async (agent: Pick<AgentClient, 'networks'>): Promise<Output> => {
  const networks = await agent.networks();
  return {
    data: networks,
    tables: [
      { head: ['NETWORK', 'ID', 'TOPOLOGY', 'ROLE', 'SUBNETS', 'THIS NODE', 'PODS', 'STATE'], rows: networks.map(row) },
    ],
  };
};

const row = (network: NetworkStatus): string[] => [
  network.name,
  String(network.id),
  network.topology,
  network.role,
  network.subnets.join('\n'),
  hasClusterIpam(network) ? '(shared)' : network.nodeSubnets.join('\n'),
  String(network.pods),
  network.message === undefined ? network.state : `${network.state}: ${network.message}`,
];
