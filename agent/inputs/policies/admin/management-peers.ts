/**
 * Addresses that nodes have on a network of pods: by its management port a node is reached past all addresses of its status, so that a policy
 * about nodes is about these, too.
 */
import { managementIp } from '../../../../api/network.ts';
import { cidrContainsIp, prefixLength } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { NetworkFact } from '../../../model/facts.ts';
import type { View } from '../../../model/view.ts';

/** @param nodes names of them */
export const managementPeers = (
  nodes: readonly string[],
  network: string,
  view: Pick<View, 'node' | 'network' | 'nodeSubnets'>,
): readonly Ip[] => {
  const known = view.network(network);
  if (known === undefined) return [];
  if (known.topology === 'layer3')
    return nodes.flatMap((node) => view.nodeSubnets(node, network).flatMap((subnet) => partIp(known, subnet)));
  // Each node has the same address, and a pod reaches its own one there.
  return nodes.includes(view.node) ? known.subnets.map(({ cidr }) => managementIp(known, cidr)) : [];
};

/** A node's part is written by the node itself: of one that is none, it would be the address of a pod. */
const partIp = (network: NetworkFact, subnet: NetworkFact['subnets'][number]['cidr']): Ip[] => {
  const ip = managementIp(network, subnet);
  const isPart = network.subnets.some(
    ({ cidr, hostPrefix = prefixLength(subnet) }) => cidrContainsIp(cidr, ip) && hostPrefix === prefixLength(subnet),
  );
  return isPart ? [ip] : [];
};
