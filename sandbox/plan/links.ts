/** ip(8) batches: one command per line. */
import { addressOf, cidrFamily, type InterfaceAddress, parseCidr } from '../../net/cidr.ts';
import { BRIDGE, type HostPlan, type NetPlan } from './netplan.ts';

export const UPLINK = 'eth0';
export const GATEWAY_BRIDGE = 'br-ex';

/**
 * In the underlay: its bridge, and a veth into every machine.
 * @param pidOf the pid, as the caller sees it, of a process in the machine's network namespace
 */
export const underlayBatch = (plan: NetPlan, pidOf: (host: HostPlan) => number): string =>
  lines([
    // Without a querier, snooping can only lose neighbour solicitations.
    `link add ${BRIDGE} type bridge mcast_snooping 0`,
    `link set ${BRIDGE} mtu ${plan.mtu} up`,
    ...addresses(plan.gateway, BRIDGE),
    ...[plan.outside, ...plan.nodes].flatMap((host) => [
      `link add ${host.port} mtu ${plan.mtu} type veth peer name ${UPLINK} address ${host.mac} mtu ${plan.mtu} netns ${pidOf(host)}`,
      `link set ${host.port} master ${BRIDGE} up`,
    ]),
  ]);

/** On a machine that has its addresses on the uplink itself. */
export const plainHostBatch = (plan: NetPlan, host: HostPlan): string =>
  lines([`link set ${UPLINK} up`, ...addresses(host.addresses, UPLINK), ...defaultRoutes(plan, UPLINK)]);

/** On a node: the uplink is a port of br-ex, which has the node's addresses. May be repeated. */
export const nodeBatch = (plan: NetPlan, host: HostPlan): string =>
  lines([
    `link set ${UPLINK} up`,
    `link set ${GATEWAY_BRIDGE} up`,
    ...addresses(host.addresses, GATEWAY_BRIDGE),
    ...defaultRoutes(plan, GATEWAY_BRIDGE),
  ]);

/** To subnets by a host: those of the families that it has. */
export const routesBy = (host: HostPlan | undefined, subnets: readonly string[]): string[] =>
  subnets.flatMap((subnet) =>
    (host?.addresses ?? [])
      .filter((address) => cidrFamily(address) === cidrFamily(parseCidr(subnet)))
      .map((address) => `route replace ${subnet} via ${addressOf(address)}`),
  );

/** `nodad`: an address of ours is used by nobody else, and is there at once. */
const addresses = (list: readonly InterfaceAddress[], link: string): string[] =>
  list.map((address) => `addr replace ${address} dev ${link}${cidrFamily(address) === 6 ? ' nodad' : ''}`);

const defaultRoutes = (plan: NetPlan, link: string): string[] =>
  plan.gateway.map((gateway) => `route replace default via ${addressOf(gateway)} dev ${link}`);

const lines = (commands: readonly string[]): string => `${commands.join('\n')}\n`;
