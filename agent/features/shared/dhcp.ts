/** UDP ports that DHCP servers are asked at, in the same places. */
export const DHCP_SERVER_PORTS = { 4: 67, 6: 547 } as const;
/** UDP ports of DHCP clients, RFC 2131 §4.1 and RFC 8415 §7.2. Clients do not look at the port of whom they hear: what is to them is an answer. */
export const DHCP_CLIENT_PORTS = { 4: 68, 6: 546 } as const;
