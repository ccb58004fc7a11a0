/**
 * Ports of this node that a tenant's Services send to: its host-network pods. The address identifies what the gateway
 * router sends for a Service (`gateway-bridge/host-endpoints.ts`). What pods of this node send for one looks the same as
 * what they send by themselves to the same address, so nothing but these ports is theirs: a tenant's pods reach nothing
 * else of their node.
 */
import type { ServicePort } from '../../../../api/service.ts';
import type { BridgeItem } from '../../../../datapath/openflow/types.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { RoutedNetworkFact, SliceFact } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { targetsOf } from '../../../model/services/choice.ts';
import { isInside, networkSlices } from '../../../model/services/endpoints.ts';
import type { View } from '../../../model/view.ts';
import { onBridge } from '../../shared/bridge/flow.ts';
import { toHostEndpoint } from '../../shared/bridge/host-endpoints.ts';
import { localPatch } from '../../shared/bridge/local-patch.ts';
import { bridgeSite } from '../../shared/bridge/site.ts';
import { localNode } from '../local-node.ts';
import { localServiceNetwork, PROTOCOL_WORDS } from '../published.ts';

export const serviceHostEndpoints: FeatureOver<'service'> = {
  name: 'service-host-endpoints',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    const network = localServiceNetwork(service, view);
    if (service === undefined || network === undefined || network.role === 'default') return EMPTY_FRAGMENT;
    const { slices } = networkSlices(network, view.serviceSlices(key), view);
    const outside = slices.flatMap((slice) => outsideEndpoints(slice, network));
    if (outside.length === 0) return EMPTY_FRAGMENT;
    const own = new Set(localNode(network, view).addresses);
    const isHere = new Set(outside.filter((ip) => own.has(ip)));
    const flows = isHere.size === 0 ? [] : portFlows(service.ports, slices, { isHere, network: network.name, view });
    return { openflow: { items: flows } };
  },
};

const outsideEndpoints = ({ ready, terminating }: SliceFact, network: RoutedNetworkFact): Ip[] =>
  [...ready, ...terminating].map(({ ip }) => ip).filter((ip) => !isInside(network, ip));

interface Here {
  /** Addresses of this node. */
  readonly isHere: ReadonlySet<Ip>;
  readonly network: string;
  readonly view: View;
}

/** Several Services may have one port of the node: that is one flow. */
const portFlows = (
  ports: readonly ServicePort[],
  slices: readonly SliceFact[],
  { isHere, network, view }: Here,
): readonly BridgeItem[] => {
  const site = bridgeSite(view);
  const patch = site && localPatch(site, network, view);
  if (site === undefined || patch === undefined) return [];
  const flows = ports.flatMap((port) =>
    patch.families.flatMap((family) => {
      const { masqueradeIp: src } = family;
      if (src === undefined) return [];
      const { ready, terminating } = targetsOf(slices, port, family.family);
      const numbers = [...ready, ...terminating]
        .filter(({ endpoint }) => isHere.has(endpoint.ip))
        .map((one) => one.port);
      const protocol = PROTOCOL_WORDS[port.protocol];
      return [...new Set(numbers)].map((number) =>
        toHostEndpoint(patch, family, { src, to: { protocol, port: number } }),
      );
    }),
  );
  const different = new Map(flows.map((flow) => [JSON.stringify(flow.match), flow]));
  return onBridge(site.bridge, [...different.values()]);
};
