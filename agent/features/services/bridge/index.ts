/**
 * What of Services is on the gateway bridge, in shared gateway mode: node ports and external addresses are their network's,
 * by its patch port, and its gateway router has the load balancer. In local gateway mode they are the host's, whose nftables
 * do it. Walks: docs/datapath.md.
 */
import { addressOf, cidrContainsIp } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { networkSlices } from '../../../model/services/endpoints.ts';
import type { View } from '../../../model/view.ts';
import { onBridge } from '../../shared/bridge/flow.ts';
import { localPatch } from '../../shared/bridge/local-patch.ts';
import { type BridgeSite, bridgeSite } from '../../shared/bridge/site.ts';
import { type PublishedService, publishedService } from '../published.ts';
import { errorFlows, externalFlows, nodePortFlows, type ServiceSite } from './flows.ts';

export const serviceFlows: FeatureOver<'service'> = {
  name: 'service-flows',
  over: 'service',
  render: ({ service: key }, view) => {
    if (view.gatewayMode(view.node) !== 'shared') return EMPTY_FRAGMENT;
    const published = publishedService(key, view);
    const site = published && serviceSite(published, view);
    if (published === undefined || site === undefined) return EMPTY_FRAGMENT;
    const { service, ports } = published;
    const isAnswered = () => service.externalTrafficPolicy === 'Cluster' || hasEndpointHere(key, published, view);
    const flows = [
      ...ports.flatMap((port) => nodePortFlows(site, service, port)),
      ...(ports.some(({ externalIps }) => externalIps.length > 0) ? externalFlows(site, ports, isAnswered()) : []),
      ...errorFlows(site, ports),
    ];
    return { openflow: { items: onBridge(site.bridge, flows) } };
  },
};

/** Undefined where there is no way in from outside. */
const serviceSite = ({ network }: PublishedService, view: View): ServiceSite | undefined => {
  const site = bridgeSite(view);
  const patch = site && localPatch(site, network.name, view);
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

const hasEndpointHere = (key: string, { network }: PublishedService, view: View): boolean =>
  networkSlices(network, view.serviceSlices(key), view).slices.some((slice) =>
    [...slice.ready, ...slice.terminating].some(({ node }) => node === view.node),
  );
