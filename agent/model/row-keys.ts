/**
 * Keys of desired rows: the table, and what is unique in it. A row that has a name has it as its key, so that fragments
 * of different features meet at the same row, and `udnctl render` shows references that read well.
 */
import type { Cidr } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';

export const switchKey = (name: string): string => `Logical_Switch/${name}`;
export const switchPortKey = (name: string): string => `Logical_Switch_Port/${name}`;
export const routerKey = (name: string): string => `Logical_Router/${name}`;
export const routerPortKey = (name: string): string => `Logical_Router_Port/${name}`;
export const gatewayChassisKey = (name: string): string => `Gateway_Chassis/${name}`;
export const portGroupKey = (name: string): string => `Port_Group/${name}`;
export const addressSetKey = (name: string): string => `Address_Set/${name}`;
export const coppKey = (name: string): string => `Copp/${name}`;
export const meterKey = (name: string): string => `Meter/${name}`;
export const meterBandKey = (name: string): string => `Meter_Band/${name}`;
/** @param id the database id, see `database-ids.ts` */
export const aclKey = (id: string): string => `ACL/${id}`;
/** @param id the database id */
export const dhcpOptionsKey = (id: string): string => `DHCP_Options/${id}`;
/** @param id the database id */
export const qosKey = (id: string): string => `QoS/${id}`;
/** A router has at most one route for a prefix and a policy, but for default routes, of which it has one per next hop. */
export const staticRouteKey = (router: string, prefix: Cidr | Ip, policy = 'dst-ip'): string =>
  `Logical_Router_Static_Route/${router}/${policy}/${prefix}`;
export const defaultRouteKey = (router: string, nextHop: Ip): string =>
  `Logical_Router_Static_Route/${router}/default/${nextHop}`;
/** A router translates a source to at most one address. */
export const snatKey = (router: string, source: Cidr | Ip): string => `NAT/${router}/snat/${source}`;
/** @param destination what the policy's match is about */
export const routerPolicyKey = (router: string, priority: number, of: string): string =>
  `Logical_Router_Policy/${router}/${priority}/${of}`;
export const loadBalancerKey = (name: string): string => `Load_Balancer/${name}`;
export const loadBalancerGroupKey = (name: string): string => `Load_Balancer_Group/${name}`;
export const staticMacBindingKey = (port: string, ip: Ip): string => `Static_MAC_Binding/${port}/${ip}`;

export const chassisKey = (name: string): string => `Chassis/${name}`;
export const encapKey = (type: string, ip: string): string => `Encap/${type}/${ip}`;

/** Rows of the Open_vSwitch database; a port has one interface with the same name. */
export const portKey = (name: string): string => `Port/${name}`;
export const interfaceKey = (name: string): string => `Interface/${name}`;
