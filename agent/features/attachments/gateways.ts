/**
 * Gateways of `default-route` that the interface cannot have: with one of these the pod would lose the default route that it has to one
 * that leads nowhere, or ADD would fail with what the kernel calls it. Those of other plugins' networks are compared with what the
 * plugins give (agent/cni/foreign/default-route.ts). Pure.
 */
import { networkFamilies } from '../../../api/network.ts';
import { addressOf, type Cidr, cidrContainsIp } from '../../../net/cidr.ts';
import { type Ip, ipFamily, isLinkLocal6 } from '../../../net/ip.ts';
import type { NetworkFact, PodFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';
import type { DesiredAttachment } from './selected.ts';

/** @param attachments all of the pod's @returns a message for each gateway, without a full stop */
export const unreachableGateways = (
  { networks }: PodFact,
  attachments: readonly DesiredAttachment[],
  view: View,
): readonly string[] =>
  attachments.flatMap(({ nadKey, network, interfaceName, selection }) => {
    const own = [...(selection?.ips ?? []), ...(networks.get(nadKey)?.ipAddresses ?? []).map(addressOf)];
    return (selection?.defaultRoute ?? []).flatMap((gateway) => {
      const reason = own.includes(gateway) ? 'is the pod’s own address' : unreachable(gateway, network, view);
      return reason === undefined ? [] : [`${nadKey} as ${interfaceName}: default-route: gateway ${gateway} ${reason}`];
    });
  });

const unreachable = (gateway: Ip, network: NetworkFact, view: View): string | undefined => {
  const family = ipFamily(gateway);
  if (!networkFamilies(network).includes(family) && (network.subnets.length > 0 || family === 6))
    return `is of no use: network ${network.name} has no IPv${family} addresses`;
  const subnets = neighboursOf(network, view);
  if (subnets.length === 0 || isLinkLocal6(gateway) || subnets.some((subnet) => cidrContainsIp(subnet, gateway)))
    return undefined;
  return `is in no subnet of the interface, ${subnets.join(', ')}: no host of network ${network.name} answers for it`;
};

/**
 * Where pods have neighbours. None: anywhere. A host of a physical network may have any address, and one without IPAM, too. Elsewhere
 * port security lets pods have those of the subnets alone; on layer 3 those of this node.
 */
const neighboursOf = ({ name, topology, subnets }: NetworkFact, view: View): readonly Cidr[] => {
  if (topology === 'localnet') return [];
  return topology === 'layer3' ? view.nodeSubnets(view.node, name) : subnets.map(({ cidr }) => cidr);
};
