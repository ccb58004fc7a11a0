/**
 * What of Services is on the gateway bridge, in shared gateway mode: node ports and external addresses are their network's,
 * by its patch port, and its gateway router has the load balancer. In local gateway mode they are the host's, whose nftables
 * do it. Walks: docs/datapath.md.
 */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { networkSlices } from '../../../model/services/endpoints.ts';
import type { View } from '../../../model/view.ts';
import { onBridge } from '../../shared/bridge/flow.ts';
import { type PublishedService, publishedService } from '../published.ts';
import { errorFlows, externalFlows, nodePortFlows } from './flows.ts';
import { serviceSite } from './site.ts';

export const serviceFlows: FeatureOver<'service'> = {
  name: 'service-flows',
  over: 'service',
  render: ({ service: key }, view) => {
    if (view.gatewayMode(view.node) !== 'shared') return EMPTY_FRAGMENT;
    const published = publishedService(key, view);
    const site = published && serviceSite(published.network.name, view);
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

const hasEndpointHere = (key: string, { network }: PublishedService, view: View): boolean =>
  networkSlices(network, view.serviceSlices(key), view).slices.some((slice) =>
    [...slice.ready, ...slice.terminating].some(({ node }) => node === view.node),
  );
