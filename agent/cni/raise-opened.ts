import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { OvsPorts, PortSpec } from './ovs-ports.ts';

/**
 * Sets the node's ends of new ports up, once ovs-vswitchd has opened them: to make a link promiscuous, its userspace datapath writes flags
 * that it has read before (`netdev_turn_flags_on`), and so sets one down that came up in between. The kernel's datapath writes no flags.
 */
export const raiseOpened = async (
  desired: readonly PortSpec[],
  { interfaces, ports }: { readonly interfaces: PodInterfaces; readonly ports: OvsPorts },
  signal: AbortSignal,
): Promise<void> => {
  if (!ports.isUserspace()) return;
  await ports.untilOpened(desired, signal);
  const names = desired.map(({ name }) => name);
  await interfaces.raise(names, signal);
};
