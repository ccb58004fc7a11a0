/**
 * What of Services the host does: what its own processes send to node ports and external addresses, what comes by other links
 * than the gateway bridge, what tenants send to their own node, and everything in local gateway mode. It goes to the ClusterIP,
 * and with the mark of the Service's network by its VRF into OVN, which chooses the endpoint. There is no rule for a Service:
 * they are elements of maps.
 */
import { masqueradeAddresses } from '../../../../api/cluster-config.ts';
import type { NftItem } from '../../../../datapath/nftables/types.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { ServiceFact } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import { networkPacketMark } from '../../../model/registry/marks.ts';
import { markChainName, NFT_SETS, setName } from '../../../model/registry/nftables.ts';
import type { View } from '../../../model/view.ts';
import {
  clusterIpOf,
  type HostEndpoint,
  PROTOCOL_WORDS,
  type PublishedPort,
  type PublishedService,
  publishedService,
} from '../published.ts';
import { serviceChains } from './chains.ts';

export const hostServices: FeatureOver<'zone'> = {
  name: 'host-services',
  over: 'zone',
  render: (_, view) =>
    view.gateway(view.node)?.nodePortEnable === true ? { nftables: { items: serviceChains() } } : EMPTY_FRAGMENT,
};

export const serviceNftables: FeatureOver<'service'> = {
  name: 'service-nftables',
  over: 'service',
  render: ({ service: key }, view) => {
    const published = publishedService(key, view);
    if (published === undefined) return EMPTY_FRAGMENT;
    const elements = elementsOf(published, localAddresses(published, view));
    const items = elements.map((element): NftItem => ({ kind: 'element', element: { ...element, comment: key } }));
    return { nftables: { items } };
  },
};

interface Entry {
  readonly set: string;
  readonly key: string;
  readonly value?: string;
}

/**
 * Where what comes from outside goes to when it has to stay on this node: an address that only the network's switch here knows.
 * In shared gateway mode answers to clients that kept their addresses would leave by the gateway router.
 */
const localAddresses = ({ service }: PublishedService, view: View): readonly Ip[] =>
  service.externalTrafficPolicy === 'Local' && view.gatewayMode(view.node) === 'local'
    ? masqueradeAddresses(view.cluster, 'hostEtpLocal').filter((ip) => clusterIpOf(service, ipFamily(ip)) !== undefined)
    : [];

const elementsOf = ({ service, network, ports }: PublishedService, locals: readonly Ip[]): Entry[] => {
  const where = { verdict: `jump ${markChainName(networkPacketMark(network.id))}`, locals };
  return ports.flatMap((port) => [
    ...nodePortEntries(service, port, where),
    ...port.externalIps.flatMap((ip) => externalEntries(service, ip, port, where)),
  ]);
};

interface Where {
  /** Gives the network's mark. */
  readonly verdict: string;
  /** Of each family, or none. */
  readonly locals: readonly Ip[];
}

const nodePortEntries = (service: ServiceFact, port: PublishedPort, { verdict, locals }: Where): Entry[] => {
  if (port.nodePort === undefined) return [];
  const key = `${PROTOCOL_WORDS[port.protocol]} . ${port.nodePort}`;
  const hostEndpoints = [...port.hostEndpoints, ...port.soleEndpoints];
  const local = FAMILIES.flatMap((family) => localTarget({ ...port, hostEndpoints }, locals, family));
  return [
    ...service.clusterIps.map((ip) => ({
      set: setName('nodePorts', ipFamily(ip)),
      key,
      value: `${ip} . ${port.port}`,
    })),
    ...local.map(({ ip, port: to }) => ({ set: setName('nodePortsLocal', ipFamily(ip)), key, value: `${ip} . ${to}` })),
    ...(local.some(({ ip }) => locals.includes(ip)) ? [{ set: NFT_SETS.noSnatNodePorts.name, key }] : []),
    { set: NFT_SETS.markNodePorts.name, key, value: verdict },
  ];
};

const externalEntries = (service: ServiceFact, ip: Ip, port: PublishedPort, { verdict, locals }: Where): Entry[] => {
  const family = ipFamily(ip);
  const key = `${ip} . ${PROTOCOL_WORDS[port.protocol]} . ${port.port}`;
  return [
    { set: setName('externalIps', family), key, value: `${clusterIpOf(service, family)} . ${port.port}` },
    ...localTarget(port, locals, family).map((to) => ({
      set: setName('externalIpsLocal', family),
      key,
      value: `${to.ip} . ${to.port}`,
    })),
    { set: setName('markExternalIps', family), key, value: verdict },
  ];
};

/** Without a node port, OVN has no load balancer for this node's endpoints alone: all of them are used. */
const localTarget = (
  { hostEndpoints, nodePort }: PublishedPort,
  locals: readonly Ip[],
  family: Family,
): readonly HostEndpoint[] => {
  const isFamily = (ip: Ip): boolean => ipFamily(ip) === family;
  const host = hostEndpoints.filter(({ ip }) => isFamily(ip));
  if (host.length > 0 || nodePort === undefined) return host;
  return locals.filter(isFamily).map((ip) => ({ ip, port: nodePort }));
};
