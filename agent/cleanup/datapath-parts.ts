/** What takes our things out of places that are no databases: nothing is desired any more, and what is ours goes. */
import type { Backend } from '../../datapath/backend.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import { addressOf, type Cidr, cidrContainsIp } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { NO_ROUTER } from '../model/integration-flows.ts';
import type { Backends } from '../reconcile/node-datapath.ts';

/** @throws Error that names what could not be removed */
export const emptyBackend = async <Item>(
  backend: Backend<Item>,
  signal: AbortSignal,
  desired: ReadonlyMap<string, Item> = new Map(),
): Promise<void> => {
  const { failed } = await backend.reconcile({ desired, keys: 'all', prune: true }, signal);
  if (failed.size > 0) throw new Error([...failed].map(([key, reason]) => `${key}: ${reason}`).join(', '));
};

/** The bridge switches as one without a controller does: the one flow that ovs-vswitchd gives it by itself. */
export const emptyBridge = (openflow: Backends['openflow'], bridge: string, signal: AbortSignal): Promise<void> => {
  const normal: BridgeItem = {
    bridge,
    kind: 'flow',
    flow: { table: 0, priority: 0, cookie: 0n, match: {}, actions: ['NORMAL'] },
  };
  return emptyBackend(openflow, signal, new Map([[bridgeItemKey(normal), normal]]));
};

/** A bridge is looked at as long as something is desired of it, and once after. */
export const leaveIntegrationBridge = async (openflow: Backends['openflow'], signal: AbortSignal): Promise<void> => {
  await emptyBackend(openflow, signal, new Map([[bridgeItemKey(NO_ROUTER), NO_ROUTER]]));
  await emptyBackend(openflow, signal);
};

/** Addresses and permanent neighbours of the masquerade subnets, on a bridge that others have made. */
export const removeMasquerade = async (
  netlink: Pick<Netlink, 'read' | 'apply'>,
  bridge: string,
  subnets: readonly Cidr[],
  signal: AbortSignal,
): Promise<void> => {
  const isOurs = (ip: Ip): boolean => subnets.some((subnet) => cidrContainsIp(subnet, ip));
  const { addresses, neighbours } = await netlink.read({ addresses: true, neighbours: true }, signal);
  const ops = [
    ...neighbours
      .filter(({ link, address, permanent }) => link === bridge && permanent && isOurs(address))
      .map(({ link, address }) => ({ op: 'neighbour.delete', neighbour: { link, address } }) as const),
    ...addresses
      .filter(({ link, address }) => link === bridge && isOurs(addressOf(address)))
      .map((address) => ({ op: 'address.delete', address }) as const),
  ];
  const [failure] = await netlink.apply({ ops }, signal);
  if (failure !== undefined) throw failure.error;
};
