/**
 * `internalTrafficPolicy: Local` for processes of the node. What the host sends to ClusterIPs comes to OVN by the gateway router,
 * whose load balancers have the endpoints of all nodes. To these it goes by the management port, as what pods send: the switch
 * there has this node's endpoints alone. An endpoint that is the node itself is not asked by way of OVN at all: what comes from
 * there with an address of the node is no packet that Linux takes. There is no rule for a Service: they are elements.
 */
import type { NftItem } from '../../../../datapath/nftables/types.ts';
import { FAMILIES, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { ServiceFact } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { PACKET_MARKS } from '../../../model/registry/marks.ts';
import { setName } from '../../../model/registry/nftables.ts';
import { networkSlices } from '../../../model/services/endpoints.ts';
import type { View } from '../../../model/view.ts';
import { addressType, chain, ipWord, markText, set } from '../../shared/nftables/text.ts';
import { localNode } from '../local-node.ts';
import { hostEndpointsOf, localServiceNetwork, PROTOCOL_WORDS } from '../published.ts';

export const hostInternalServices: FeatureOver<'zone'> = {
  name: 'host-internal-services',
  over: 'zone',
  render: (_, view) =>
    view.gateway(view.node) === undefined ? EMPTY_FRAGMENT : { nftables: { items: internalServiceChains() } },
};

export const serviceInternal: FeatureOver<'service'> = {
  name: 'service-internal',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    if (service?.internalTrafficPolicy !== 'Local') return EMPTY_FRAGMENT;
    const items = elements(key, service, view).map((element): NftItem => ({ kind: 'element', element }));
    return items.length === 0 ? EMPTY_FRAGMENT : { nftables: { items } };
  },
};

const internalServiceChains = (): NftItem[] => [
  ...FAMILIES.flatMap((family) => [
    set({ name: setName('internalToMark', family), type: keyType(family) }),
    set({
      name: setName('internalToHost', family),
      type: keyType(family),
      value: `${addressType(family)} . inet_service`,
    }),
  ]),
  chain(
    'servicesInternalMark',
    FAMILIES.map(
      (family) =>
        `${ipWord(family)} daddr . meta l4proto . th dport @${setName('internalToMark', family)} meta mark set ${MARK}`,
    ),
  ),
  chain(
    'servicesInternal',
    FAMILIES.map((family) => {
      const ip = ipWord(family);
      return `dnat ${ip} to ${ip} daddr . meta l4proto . th dport map @${setName('internalToHost', family)}`;
    }),
  ),
];

const MARK = markText(PACKET_MARKS.internalTrafficLocal);

const keyType = (family: (typeof FAMILIES)[number]): string => `${addressType(family)} . inet_proto . inet_service`;

interface Element {
  readonly set: string;
  readonly key: string;
  readonly value?: string;
  readonly comment: string;
}

/** Of the default network: the host reaches no ClusterIP of another one. */
const elements = (comment: string, service: ServiceFact, view: View): Element[] => {
  if (view.gateway(view.node) === undefined) return [];
  const network = localServiceNetwork(service, view);
  if (network?.role !== 'default') return [];
  const { slices } = networkSlices(network, view.serviceSlices(comment), view);
  const node = localNode(network, view);
  return service.ports.flatMap((port) => {
    const own = hostEndpointsOf(slices, port, node);
    return service.clusterIps.map((ip): Element => {
      const family = ipFamily(ip);
      const key = `${ip} . ${PROTOCOL_WORDS[port.protocol]} . ${port.port}`;
      const to = own.find((endpoint: { readonly ip: Ip }) => ipFamily(endpoint.ip) === family);
      return to === undefined
        ? { set: setName('internalToMark', family), key, comment }
        : { set: setName('internalToHost', family), key, value: `${to.ip} . ${to.port}`, comment };
    });
  });
};
