/** Routing tables and priorities of ip rules. */
export { vrfTable } from '../../../api/vrf.ts';

/** Routing table of services whose traffic from this node stays on it. */
export const MANAGEMENT_PORT_TABLE = 7;

/** rtnetlink's RT_TABLE_DEFAULT, which ovs-vswitchd reads before the others. */
export const TUNNEL_ROUTE_TABLE = 253;

/** Rules of ours are only at these priorities; there, those with our protocol number are all ours. */
export const RULE_PRIORITIES = {
  internalTrafficLocal: 30,
  hostPorts: 31,
  network: 2000,
} as const;

/** Of the unreachable default route of a VRF: it loses against every other one, and wins against other tables. */
export const UNREACHABLE_METRIC = 4_278_198_272;
