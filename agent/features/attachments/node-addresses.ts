/** Addresses of a localnet that the node has itself: ADD refuses the pod, because the gateway bridge drops what it would send. Pure. */
import { addressOf } from '../../../net/cidr.ts';
import type { PodFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';
import type { DesiredAttachment } from './selected.ts';

/** @returns a message for each address that is this node's, or its next hop's, on the physical network that they share */
export const nodeAddressesOf = (pod: PodFact, attachments: readonly DesiredAttachment[], view: View): string[] =>
  attachments.flatMap(({ nadKey, network: { physical, name } }) => {
    const gateway = physical === undefined ? undefined : view.gateway(view.node);
    if (physical === undefined || gateway === undefined) return [];
    const isBesideNode = (physical.vlanId ?? 0) === gateway.vlanId;
    if (!isBesideNode || view.physicalBridge(physical.name) !== gateway.bridge) return [];
    const own = [...gateway.addresses, ...view.hostAddresses(view.node)].map(addressOf);
    const holders = new Map([
      ...gateway.nextHops.map((ip) => [ip, 'the next hop'] as const),
      ...own.map((ip) => [ip, 'an address'] as const),
    ]);
    return (pod.networks.get(nadKey)?.ipAddresses ?? []).flatMap((address) => {
      const what = holders.get(addressOf(address));
      if (what === undefined) return [];
      return [`${addressOf(address)} is ${what} of node ${view.node}: excludeSubnets of network ${name} lacks it`];
    });
  });
