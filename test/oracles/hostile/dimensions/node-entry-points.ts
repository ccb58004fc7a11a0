/** What nodes serve in the name of others, and routers between networks: node ports, health checks, joins. */
import { ARP_PROXY_MAC } from '../../../../api/network.ts';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import { linkLocalFromMac, parseMac } from '../../../../net/mac.ts';
import { type KnownService, nearPods, type World } from '../world.ts';
import type { EntryPoint, Target } from './entry-points.ts';

const BOTH = FAMILIES;

const atNodes = (
  { nodes, services }: World,
  family: Family,
  portOf: (service: KnownService) => number | undefined,
): readonly Target[] =>
  services.flatMap((service) => {
    const port = portOf(service);
    return nodes.flatMap(({ name, mac, addresses }) =>
      port === undefined
        ? []
        : [{ label: `${service.name} at ${name}`, ip: addresses[family], mac, port, tenant: service.tenant }],
    );
  });

/** What a node has, or is believed to have, and is not known by: nobody is served there but who may be anyhow. */
const otherAddresses = (world: World, family: Family): readonly Omit<Target, 'port'>[] => [
  ...world.networks.flatMap(({ tenant, masquerade, managementPort: { addresses, mac, linkLocal, device } }) => [
    ...masquerade[family].map((ip) => ({ label: `${tenant}’s ${ip}`, ip })),
    { label: `${tenant}’s management port`, ip: addresses[family], mac },
    ...(family === 6 ? [{ label: `${tenant}’s management port’s link`, ip: linkLocal, mac, scope: device }] : []),
  ]),
  ...(family === 6
    ? world.nodes.map(({ name, linkLocal: ip, mac }) => ({ label: `${name}’s link`, ip, mac, scope: 'br-ex' }))
    : []),
  ...world.routerPorts.flatMap(({ name, addresses, mac }) =>
    addresses.filter((ip) => ipFamily(ip) === family).map((ip) => ({ label: name, ip, mac })),
  ),
  { label: 'loopback', ip: parseIp(family === 4 ? '127.0.0.1' : '::1') },
];

/** Each address with one of the ports, all of which have their turn. */
const inTurn = (addresses: readonly Omit<Target, 'port'>[], services: readonly KnownService[]): readonly Target[] =>
  addresses.flatMap((address, index) => {
    const service = services[index % services.length];
    if (service === undefined) return [];
    const { name, nodePort: port, tenant } = service;
    return [{ ...address, label: `${name} at ${address.label}`, port, tenant }];
  });

const gatewayLinks = (world: World, family: Family): readonly Target[] => {
  const proxy: Ip = parseIp(family === 4 ? '169.254.1.1' : 'fe80::1');
  const own = world.networks.map(({ tenant }) => nearPods(world, tenant)[0]);
  return [
    { label: 'proxy', ip: proxy, mac: ARP_PROXY_MAC },
    ...own.map(({ tenant, gatewayMac: mac }) => ({ label: `proxy of ${tenant}`, ip: proxy, mac, tenant })),
    ...own
      .filter(() => family === 6)
      .map(({ tenant, gatewayMac: mac }) => ({ label: tenant, ip: linkLocalFromMac(parseMac(mac)), mac, tenant })),
  ];
};

export const NODE_ENTRY_POINTS: readonly EntryPoint[] = [
  {
    name: 'node port',
    families: BOTH,
    isPublic: true,
    of: (world, _, family) => atNodes(world, family, ({ nodePort }) => nodePort),
  },
  {
    name: 'node port at no address of nodes',
    families: BOTH,
    of: (world, { tenant }, family) =>
      inTurn(
        otherAddresses(world, family),
        world.services.filter((one) => one.tenant !== tenant),
      ),
  },
  {
    name: 'health check of a Service',
    families: BOTH,
    of: (world, _, family) => atNodes(world, family, ({ healthCheckPort }) => healthCheckPort),
  },
  {
    name: 'router between routers',
    families: BOTH,
    of: (world, _, family) =>
      world.routerPorts.flatMap(({ name, addresses, mac, tenant }) =>
        addresses.filter((ip) => ipFamily(ip) === family).map((ip) => ({ label: name, ip, mac, tenant })),
      ),
  },
  {
    name: 'gateway by a link-local address',
    families: BOTH,
    of: (world, _, family) => gatewayLinks(world, family),
  },
];
