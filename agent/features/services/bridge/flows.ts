/** Flows of a Service: as many for each of its ports and addresses, whatever endpoints and networks there are. */
import type { ServicePort } from '../../../../api/service.ts';
import type { Flow, Match } from '../../../../datapath/openflow/types.ts';
import type { Cidr } from '../../../../net/cidr.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { ServiceFact } from '../../../model/facts.ts';
import { CT_LABELS, CT_ZONES } from '../../../model/registry/marks.ts';
import { FLOW_TABLES } from '../../../model/registry/openflow.ts';
import { errorsFrom } from '../../shared/bridge/errors.ts';
import { ct, flow, ip, output } from '../../shared/bridge/flow.ts';
import type { LocalPatch, PatchFamily } from '../../shared/bridge/local-patch.ts';
import { asNeighbour, type BridgeSite, inVlan } from '../../shared/bridge/site.ts';
import { clusterIpOf, PROTOCOL_WORDS, type PublishedPort } from '../published.ts';

export interface ServiceSite extends BridgeSite {
  readonly uplink: string;
  /** Of the Service's network. */
  readonly patch: LocalPatch;
  /** At which node ports are. */
  readonly nodePortIps: readonly Ip[];
}

/** An address and a port by which a Service is reached. */
interface EntryPoint {
  readonly family: PatchFamily;
  readonly protocol: (typeof PROTOCOL_WORDS)[ServicePort['protocol']];
  readonly address: Ip;
  readonly port: number;
}

/** @param service families that it has are those of its ClusterIPs */
export const nodePortFlows = (
  site: ServiceSite,
  service: Pick<ServiceFact, 'clusterIps'>,
  port: PublishedPort,
): Flow[] => {
  const { nodePort } = port;
  if (nodePort === undefined) return [];
  return site.patch.families
    .filter(({ family }) => clusterIpOf(service, family) !== undefined && !isHostsAlone(port, family))
    .flatMap((family) => {
      const addresses = site.nodePortIps.filter((ip) => ipFamily(ip) === family.family);
      return addresses.map((address) => entryPointOf(family, address, port, nodePort));
    })
    .flatMap((entryPoint) => throughUplink(site, entryPoint));
};

/** @param isAnswered also by endpoints of this node */
export const externalFlows = (site: ServiceSite, ports: readonly PublishedPort[], isAnswered: boolean): Flow[] =>
  ports
    .flatMap((port) => entryPointsOf(site, port))
    .flatMap((entryPoint) => [
      ...throughUplink(site, entryPoint),
      ...(isAnswered ? betweenNetworks(site, entryPoint) : []),
    ]);

/** @param ports of one Service. Its network's router speaks for the node's own address whatever Services there are. */
export const errorFlows = (site: ServiceSite, ports: readonly PublishedPort[]): Flow[] => {
  if (site.patch.isDefault) return [];
  const { families } = site.patch;
  const own = new Set(families.flatMap(({ bridgeIps }) => bridgeIps));
  const isFromRouter = (ip: Ip): boolean => !own.has(ip) && families.some(({ family }) => family === ipFamily(ip));
  const ofNode = ports.some(({ nodePort }) => nodePort !== undefined) ? site.nodePortIps : [];
  const addresses = new Set([...ofNode, ...ports.flatMap(({ externalIps }) => externalIps)]);
  return [...addresses].filter(isFromRouter).flatMap((ip) => errorsFrom(site, site.patch, site.uplink, ip));
};

const entryPointsOf = ({ patch }: ServiceSite, port: PublishedPort): EntryPoint[] =>
  port.externalIps.flatMap((address) => {
    const family = patch.families.find((one) => one.family === ipFamily(address));
    return family === undefined || isHost(port, family.family) ? [] : [entryPointOf(family, address, port, port.port)];
  });

/** As everything that comes for the node and nobody else: nftables take it from there. */
const isHost = ({ hostEndpoints }: PublishedPort, family: Family): boolean =>
  hostEndpoints.some(({ ip: address }) => ipFamily(address) === family);

const isHostsAlone = (port: PublishedPort, family: Family): boolean =>
  isHost(port, family) || port.soleEndpoints.some(({ ip: address }) => ipFamily(address) === family);

const entryPointOf = (
  family: PatchFamily,
  address: Ip,
  { protocol }: Pick<ServicePort, 'protocol'>,
  port: number,
): EntryPoint => ({
  ...{ family, address, port },
  protocol: PROTOCOL_WORDS[protocol],
});

/**
 * Conntrack has been asked already: answers to somebody who has opened a connection from here with this very port are not for
 * the Service. All others are, also when another one had the port before, and clients of UDP go on as if nothing had happened.
 *
 * Packets of clients make no connection in the zone that networks share: as many as they like would keep everybody else's out. The network's
 * router takes so many as it may have, and what it answers is noted, with the network's mark, so that ICMP errors about it find their
 * way.
 */
const throughUplink = (site: ServiceSite, entryPoint: EntryPoint): Flow[] => {
  const { patch, uplink } = site;
  const { address, port } = entryPoint;
  return [
    flow('servicesOutside', 'service', {
      match: { ...inVlan(site), ...packets(entryPoint, { dst: address }), tp_dst: String(port) },
      actions: [output(patch.port)],
    }),
    flow('classify', 'serviceAnswer', {
      inPort: patch.port,
      match: { dl_src: site.mac, ...packets(entryPoint, { src: address }), tp_src: String(port) },
      actions: [
        ct({ commit: true, zone: CT_ZONES.external, mark: patch.ctMark, label: CT_LABELS.serviceAnswer }),
        output(uplink),
      ],
    }),
  ];
};

/**
 * What pods of other networks send to an external address of this one comes out of their gateway routers, as to anywhere
 * outside, and is answered here: from outside it would come back with the node's own address as its source. A tenant has its
 * masquerade address, which the answer finds it by. The default network has the node's, which this gateway router has, too:
 * it takes OVN's masquerade address meanwhile.
 */
const betweenNetworks = (site: ServiceSite, entryPoint: EntryPoint): Flow[] => {
  const { address, port, family } = entryPoint;
  const toRouter = [...asNeighbour(site), output(site.patch.port)];
  const to = (src?: Cidr): Match => ({
    dl_src: site.mac,
    ...packets(entryPoint, { src, dst: address }),
    tp_dst: String(port),
  });
  return [
    flow('classify', 'serviceBetween', { match: to(family.masqueradeSubnet), actions: toRouter }),
    ...(site.patch.isDefault
      ? []
      : [
          flow('classify', 'serviceBetweenAsNode', {
            inPort: site.defaultPatch,
            match: to(),
            // Sent on at once, the next router would not know that the source is another one now.
            actions: [
              ct({ commit: true, table: 'betweenNetworks', zone: CT_ZONES.ovnMasquerade, nat: { src: family.ovnIp } }),
            ],
          }),
          flow('betweenNetworks', 'service', {
            match: { ...packets(entryPoint, { src: family.ovnIp, dst: address }), tp_dst: String(port) },
            actions: toRouter,
          }),
        ]),
    flow('classify', 'serviceAnswerBetween', {
      inPort: site.patch.port,
      match: {
        dl_src: site.mac,
        ...packets(entryPoint, { src: address, dst: family.masqueradeSubnet }),
        tp_src: String(port),
      },
      actions: [`resubmit(,${FLOW_TABLES.betweenNetworks})`],
    }),
  ];
};

const packets = ({ family, protocol }: EntryPoint, ends: Parameters<typeof ip>[1]): Match =>
  ip(family.family, ends, protocol);
