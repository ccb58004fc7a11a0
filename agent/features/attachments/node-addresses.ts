/** Addresses of a localnet that nodes have themselves: ADD refuses the pod, because the gateway bridge drops what it would send. Pure. */
import { addressOf } from '../../../net/cidr.ts';
import type { PodFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';
import type { DesiredAttachment } from './selected.ts';

/** @returns a message for each address that is a node's, or this one's next hop's, on the physical network that they share */
export const nodeAddressesOf = (pod: PodFact, attachments: readonly DesiredAttachment[], view: View): string[] =>
  attachments.flatMap(({ nadKey, network: { physical, name } }) => {
    const gateway = physical === undefined ? undefined : view.gateway(view.node);
    if (physical === undefined || gateway === undefined) return [];
    const isBesideNode = (physical.vlanId ?? 0) === gateway.vlanId;
    if (!isBesideNode || view.physicalBridge(physical.name) !== gateway.bridge) return [];
    const own = [...gateway.addresses, ...view.hostAddresses(view.node)].map(addressOf);
    const holders = new Map([
      ...gateway.nextHops.map((ip) => [ip, `the next hop of node ${view.node}`] as const),
      ...own.map((ip) => [ip, `an address of node ${view.node}`] as const),
    ]);
    return (pod.networks.get(nadKey)?.ipAddresses ?? []).flatMap((address) => {
      const ip = addressOf(address);
      const ofThis = holders.get(ip);
      const what = ofThis === undefined && view.isNodeAddress(ip) ? 'an address of another node' : ofThis;
      return what === undefined ? [] : [`${ip} is ${what}: excludeSubnets of network ${name} lacks it`];
    });
  });
