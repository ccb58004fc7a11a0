/**
 * What of `k8s.ovn.org/pod-networks` can be a pod's on a network. Who makes a pod may write the annotation with it, so what it
 * says is a wish: with the gateway's address, or its MAC, a pod would have the network's packets. Pure.
 */
import {
  addressAt,
  addressOf,
  type Cidr,
  cidrContains,
  cidrContainsIp,
  cidrFamily,
  cidrSize,
  networkOfInterface,
} from '../net/cidr.ts';
import type { Ip } from '../net/ip.ts';
import { linkLocalFromMac } from '../net/mac.ts';
import type { PodNetworkEntry, PodNetworkRole } from './annotations/pod-networks.ts';
import {
  ARP_PROXY_MAC,
  gatewayIp,
  gatewayMac,
  hasGateway,
  hasPortKeys,
  managementIp,
  managementMac,
  type Network,
} from './network.ts';

/** Keys below are those of routers' ports on the network's switch. */
export const FIRST_POD_KEY = 10;

export interface PodEntryContext {
  readonly network: Network;
  /** Of the pod's switch: on layer 3 its node's, on layer 2 the network's. */
  readonly subnets: readonly Cidr[];
  /** That an attachment of this pod to this network has. */
  readonly role: PodNetworkRole;
}

/** @returns the first thing that is no pod's, with the field's name; undefined: all of it can be a pod's */
export const brokenPodEntry = (entry: PodNetworkEntry, context: PodEntryContext): string | undefined => {
  for (const rule of RULES) {
    const broken = rule(entry, context);
    if (broken !== undefined) return broken;
  }
  return undefined;
};

type Rule = (entry: PodNetworkEntry, context: PodEntryContext) => string | undefined;

const addresses: Rule = ({ ipAddresses }, { network, subnets }) => {
  const families = ipAddresses.map(cidrFamily);
  if (new Set(families).size < families.length) return 'ip_addresses: has two addresses of one family';
  // A port without any address may send from all, ovn-nb(5), "port_security".
  if (families.length === 0 && subnets.length > 0) return 'ip_addresses: has none';
  for (const address of ipAddresses) {
    const ip = addressOf(address);
    const subnet = subnets.find((one) => cidrContainsIp(one, ip));
    if (subnet === undefined)
      return `ip_addresses: ${ip} is not in ${subnets.join(', ')}, where the pod's addresses are`;
    if (networkOfInterface(address) !== subnet)
      return `ip_addresses: ${address} does not have the prefix length of ${subnet}`;
    const owner = ownerOf(network, subnet, ip);
    if (owner !== undefined) return `ip_addresses: ${ip} is the ${owner} of ${subnet}`;
  }
  return undefined;
};

const ownerOf = (network: Network, subnet: Cidr, ip: Ip): string | undefined => {
  if (hasGateway(network) && ip === gatewayIp(network, subnet)) return 'gateway';
  if (hasGateway(network) && ip === managementIp(network, subnet)) return 'management port';
  if (cidrSize(subnet) <= 2n) return undefined;
  if (ip === addressOf(subnet)) return 'network address';
  return cidrFamily(subnet) === 4 && ip === addressAt(subnet, cidrSize(subnet) - 1n) ? 'broadcast address' : undefined;
};

const mac: Rule = ({ mac: own }, { network, subnets }) => {
  if (!hasGateway(network)) return undefined;
  if (own === ARP_PROXY_MAC) return `mac_address: ${own} is that of the switch, which answers for other nodes`;
  if (own === gatewayMac(network, subnets)) return `mac_address: ${own} is the gateway's`;
  return own === managementMac(network, subnets) ? `mac_address: ${own} is the management port's` : undefined;
};

/** Of a secondary network those that the pod has asked for (`default-route`) when it started, wherever they are. */
const gateways: Rule = ({ gatewayIps }, context) => {
  if (context.role === 'secondary') return undefined;
  const allowed = context.role === 'primary' ? gatewaysOf(context) : [];
  const other = gatewayIps.find((ip) => !allowed.includes(ip));
  return other && `gateway_ips: ${other} is not the gateway of this network`;
};

/** A packet leaves by the network's own gateway, or goes to a neighbour. */
const routes: Rule = ({ routes: all }, context) => {
  const hops = gatewaysOf(context);
  for (const { dest, nextHop } of all) {
    if (nextHop !== undefined && !hops.includes(nextHop))
      return `routes: ${nextHop} is not the gateway of this network`;
    if (nextHop === undefined && !context.subnets.some((subnet) => cidrContains(subnet, dest))) {
      return `routes: ${dest} has no gateway and is not on this network's link`;
    }
  }
  return undefined;
};

const linkLocalGateway: Rule = ({ ipv6LlaGatewayIp }, { network, subnets }) => {
  const own = gatewayMac(network, subnets);
  if (ipv6LlaGatewayIp === undefined || (own !== undefined && ipv6LlaGatewayIp === linkLocalFromMac(own)))
    return undefined;
  return `ipv6_lla_gateway_ip: ${ipv6LlaGatewayIp} is not the gateway of this network`;
};

const key: Rule = ({ tunnelId }, { network }) =>
  hasPortKeys(network) && tunnelId !== undefined && tunnelId < FIRST_POD_KEY
    ? `tunnel_id: ${tunnelId} is a router's`
    : undefined;

const role: Rule = ({ role: given }, { role: own }) =>
  given === undefined || given === own ? undefined : `role: is ${given}, this network is ${own} to the pod`;

const gatewaysOf = ({ network, subnets }: PodEntryContext): Ip[] =>
  hasGateway(network) ? subnets.map((subnet) => gatewayIp(network, subnet)) : [];

const RULES: readonly Rule[] = [addresses, mac, gateways, routes, linkLocalGateway, key, role];
