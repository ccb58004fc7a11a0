/** `udnctl networks`: the networks of this node. */

import type { NetworkStatus } from '../../api/agent-status.ts';
import { hasClusterIpam } from '../../api/network.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

interface NetworkFilter {
  /** Only networks that pods of this namespace may use by a NAD of it. */
  readonly namespace?: string | undefined;
}

export const listNetworks = async (
  agent: Pick<AgentClient, 'networks'>,
  { namespace }: NetworkFilter = {},
): Promise<Output> => {
  const networks = (await agent.networks()).filter(
    ({ nads }) => namespace === undefined || nads.some((nad) => nad.startsWith(`${namespace}/`)),
  );
  return {
    data: networks,
    tables: [
      {
        head: ['NETWORK', 'ID', 'TOPOLOGY', 'ROLE', 'SUBNETS', 'THIS NODE', 'PODS', 'STATE'],
        rows: networks.map(row),
        empty: 'no networks',
      },
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
