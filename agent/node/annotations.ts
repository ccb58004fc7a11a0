/** What this node publishes to the others, as annotations of its Node. Pure. */
import { formatL3GatewayConfig } from '../../api/annotations/l3-gateway-config.ts';
import { formatAddressPair } from '../../api/annotations/node-addresses.ts';
import { formatEncapIps, formatHostCidrs } from '../../api/annotations/node-lists.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { GatewayFact } from '../model/facts.ts';

export interface NodeIdentity {
  readonly name: string;
  /** Absent: not known. */
  readonly chassisId: string | undefined;
  /** Empty: not known. */
  readonly encapIps: readonly Ip[];
  /** `disabled`: it has none and never will. Absent: not known, so that what is published stays. */
  readonly gateway: GatewayFact | 'disabled' | undefined;
  readonly hostAddresses: readonly InterfaceAddress[] | undefined;
  readonly masqueradeSubnets: readonly Cidr[];
  /** The datapath can compare packets with an MTU; absent: not known. */
  readonly canCheckMtu: boolean | undefined;
  /** `tunnelMtu`; not published. */
  readonly tunnelMtu?: number | undefined;
}

/** Null: it must not be there. What is not in the result stays as it is. */
export type DesiredAnnotations = Readonly<Record<string, string | null>>;

export const nodeAnnotations = (identity: NodeIdentity): DesiredAnnotations => ({
  [NODE_ANNOTATIONS.zoneName]: identity.name,
  ...(identity.chassisId === undefined ? {} : { [NODE_ANNOTATIONS.chassisId]: identity.chassisId }),
  ...(identity.encapIps.length === 0 ? {} : { [NODE_ANNOTATIONS.encapIps]: formatEncapIps(identity.encapIps) }),
  ...gatewayAnnotations(identity),
  ...(identity.hostAddresses === undefined
    ? {}
    : { [NODE_ANNOTATIONS.hostCidrs]: formatHostCidrs(identity.hostAddresses) }),
  ...(identity.canCheckMtu === undefined
    ? {}
    : { [NODE_ANNOTATIONS.gatewayMtuSupport]: identity.canCheckMtu ? null : 'false' }),
});

const gatewayAnnotations = ({ gateway, masqueradeSubnets }: NodeIdentity): DesiredAnnotations => {
  if (gateway === undefined) return {};
  if (gateway === 'disabled') {
    return {
      [NODE_ANNOTATIONS.gatewayConfig]: formatL3GatewayConfig({ mode: 'disabled' }),
      [NODE_ANNOTATIONS.primaryAddresses]: null,
      [NODE_ANNOTATIONS.masqueradeSubnets]: null,
    };
  }
  const { mode, bridge, interfaceId, mac, addresses, nextHops, nodePortEnable, vlanId } = gateway;
  const config = { mode, bridgeId: bridge, interfaceId, mac, ipAddresses: addresses, nextHops, nodePortEnable, vlanId };
  return {
    [NODE_ANNOTATIONS.gatewayConfig]: formatL3GatewayConfig(config),
    [NODE_ANNOTATIONS.primaryAddresses]: formatAddressPair(addresses),
    [NODE_ANNOTATIONS.masqueradeSubnets]: formatAddressPair(masqueradeSubnets),
  };
};

/** Which annotations of a Node are this package's. */
export const PUBLISHED_ANNOTATIONS: readonly string[] = [
  NODE_ANNOTATIONS.chassisId,
  NODE_ANNOTATIONS.encapIps,
  NODE_ANNOTATIONS.zoneName,
  NODE_ANNOTATIONS.gatewayConfig,
  NODE_ANNOTATIONS.primaryAddresses,
  NODE_ANNOTATIONS.hostCidrs,
  NODE_ANNOTATIONS.masqueradeSubnets,
  NODE_ANNOTATIONS.gatewayMtuSupport,
];
