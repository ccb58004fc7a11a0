/** How owned state in the databases is recognised. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { isIp, parseIp } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import { gatewayRouterName, routerToExternalPortName } from './names.ts';

/** The entry of `external_ids` that marks a row as ours; its value is the row's key. Nothing without it is touched. */
export const OWNER_KEY = 'ovn-udn/key';

/**
 * The entry that marks ports of pods and their interfaces in the Open_vSwitch database; its value is the port's name. They
 * come and go with the calls of the container runtime, so the reconciler, which knows rows of ours by `OWNER_KEY`, must
 * not take them for rows that no owner desires.
 */
export const POD_PORT_KEY = 'ovn-udn/port';

/**
 * The entry of `external_ids` of a router, a switch or a port that says how many connections each of its conntrack zones may have on this
 * node. Not OVN's own `ct-zone-limit`: ADR 138 says why.
 */
export const CONNECTIONS_KEY = 'ovn-udn/connections';

/**
 * Static_MAC_Binding has no `external_ids`: rows of ours are those for gateway routers' external ports with the MAC that
 * derives from the address.
 */
export const isOurMacBinding = (port: string, ip: string, mac: string): boolean =>
  port.startsWith(GATEWAY_PORT_PREFIX) && isIp(ip) && mac === macFromIp(parseIp(ip));

const GATEWAY_PORT_PREFIX = routerToExternalPortName(gatewayRouterName(DEFAULT_NETWORK_NAME, ''));
