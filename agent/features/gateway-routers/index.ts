/**
 * How each network gets out of this node: a gateway router of its own with a switch to the gateway bridge, and what the
 * router before it (the cluster router on layer 3, the transit router on layer 2) has to know. One fragment per network:
 * all of it follows from the node's gateway. Rows: reference of names and columns in docs/ovn-rows.md.
 */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { gatewaySite, isSite } from '../shared/ovn/gateway-site.ts';
import { merge } from '../shared/ovn/merge.ts';
import { externalSwitch } from './external-switch.ts';
import { gatewayRouter } from './gateway-router.ts';
import { layer2Link } from './layer2-link.ts';
import { layer3Link } from './layer3-link.ts';

export const gatewayRouters: FeatureOver<'network'> = {
  name: 'gateway-routers',
  over: 'network',
  render: ({ network }, view) => {
    const site = gatewaySite(network, view);
    if (site === undefined) return EMPTY_FRAGMENT;
    if (!isSite(site)) return { diagnostics: [site] };
    const link = site.network.topology === 'layer2' ? layer2Link(site, view) : layer3Link(site, view);
    return { northbound: merge(gatewayRouter(site, view), externalSwitch(site, view), link) };
  },
};
