/** The gateway bridge as flows of Services of one network need to know it. */
import { addressOf, cidrContainsIp } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { View } from '../../../model/view.ts';
import { localPatch } from '../../shared/bridge/local-patch.ts';
import { type BridgeSite, bridgeSite } from '../../shared/bridge/site.ts';
import type { ServiceSite } from './flows.ts';

/** Undefined where there is no way in from outside. */
export const serviceSite = (network: string, view: View): ServiceSite | undefined => {
  const site = bridgeSite(view);
  const patch = site && localPatch(site, network, view);
  if (site?.uplink === undefined || patch === undefined) return undefined;
  return { ...site, uplink: site.uplink, patch, nodePortIps: nodePortIps(site, view) };
};

/**
 * Of the bridge, also those that are not the gateway's because they may go at any time, as an address that several nodes have in
 * turn. By those of other links, what comes is the host's.
 */
const nodePortIps = ({ families }: BridgeSite, view: View): Ip[] => {
  const subnets = families.flatMap(({ hostSubnets }) => hostSubnets);
  const more = view.hostAddresses(view.node).map(addressOf);
  const onBridge = more.filter((ip) => subnets.some((subnet) => cidrContainsIp(subnet, ip)));
  return [...new Set([...families.flatMap(({ bridgeIps }) => bridgeIps), ...onBridge])];
};
