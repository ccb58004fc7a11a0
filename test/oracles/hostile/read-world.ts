/** Reads from a running cluster what an attacker would have to find out or guess. */
import { z } from 'zod';
import { addressAt, networkOfInterface, parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily, isLinkLocal6, parseIp } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { networksOn } from '../../e2e/support/cluster/udnctl.ts';
import { nodeAddress, outside } from '../../e2e/support/networks/north-south.ts';
import { NODE, nodeOf, OTHER_NODE, PODS, TENANTS } from './cast.ts';
import { SERVICES } from './cast-services.ts';
import { readRouterPorts } from './read-router-ports.ts';
import { readTunnelKeys } from './read-tunnel-keys.ts';
import {
  type AddressPair,
  DEFAULT_TENANT,
  type Foothold,
  type Interface,
  type KnownHost,
  type KnownNetwork,
  type KnownRouterPort,
  type KnownService,
  type KnownTunnelKey,
  type PodInterface,
  type World,
} from './world.ts';

/** Of many pods at the same time in a guest. */
const NEIGHBOUR_MS = 60_000;

/** From the first node, and from the second. */
export const readWorlds = async (sandbox: Sandbox): Promise<readonly [World, World]> => {
  const links = await readNodeLinks(sandbox);
  const [footholds, services, first, second, outsider] = await Promise.all([
    Promise.all(PODS.map((key) => readFoothold(sandbox, key, links))),
    readServices(sandbox),
    readSide(sandbox, NODE, links),
    readSide(sandbox, OTHER_NODE, links),
    readHost(sandbox, 'outside'),
  ]);
  const from = (near: Side, far: Side): World => ({
    ...{ footholds, services, outside: outsider },
    networks: near.networks,
    routerPorts: [...near.routerPorts, ...far.routerPorts],
    nodes: [near.host, far.host],
    tunnelKeys: far.tunnelKeys,
    farManagementPort: far.managementPort,
  });
  return [from(first, second), from(second, first)];
};

interface Side {
  readonly host: KnownHost;
  readonly networks: readonly KnownNetwork[];
  readonly tunnelKeys: readonly KnownTunnelKey[];
  readonly managementPort: Interface;
  readonly routerPorts: readonly KnownRouterPort[];
}

const readSide = async (
  sandbox: Sandbox,
  node: string,
  links: Readonly<Record<string, readonly Link[]>>,
): Promise<Side> => {
  const own = links[node] ?? [];
  const port = own.find(({ ifname }) => ifname === 'ovn-k8s-mp0');
  if (port === undefined) throw new Error(`${node} has no management port`);
  const [host, networks, tunnelKeys, routerPorts] = await Promise.all([
    readHost(sandbox, node),
    readNetworks(sandbox, node, own),
    readTunnelKeys(sandbox, node),
    readRouterPorts(sandbox, node),
  ]);
  return { host, networks, tunnelKeys, routerPorts, managementPort: interfaceOfLink(port) };
};

const linksSchema = z.array(
  z.object({
    ifindex: z.number(),
    ifname: z.string(),
    link_index: z.number().optional(),
    address: z.string().default(''),
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number(), scope: z.string() }))
      .default([]),
  }),
);
type Link = z.infer<typeof linksSchema>[number];

const readNodeLinks = async (sandbox: Sandbox): Promise<Readonly<Record<string, readonly Link[]>>> =>
  Object.fromEntries(
    await Promise.all(
      [NODE, OTHER_NODE].map(async (node) => {
        const { stdout } = await sandbox.node(node, ['ip', '-j', 'addr', 'show']);
        return [node, linksSchema.parse(JSON.parse(stdout))] as const;
      }),
    ),
  );

const routeSchema = z.array(z.object({ dst: z.string(), gateway: z.string().optional(), dev: z.string().optional() }));
const neighbourSchema = z.array(z.object({ dst: z.string(), lladdr: z.string().optional() }));

/** One program per pod: to start one takes long in a guest. The pod asks for its gateway before it knows the MAC address. */
const LOOK = `
ip -j addr show; ip -j -4 route show default; ip -j -6 route show default
via=$(ip -4 route show default | sed -n 's/^default via \\([^ ]*\\).*/\\1/p'); ping -c 1 -W 1 "$via" > /dev/null
ip -j neigh show "$via"`;

const readFoothold = async (
  sandbox: Sandbox,
  pod: string,
  links: Readonly<Record<string, readonly Link[]>>,
): Promise<Foothold> => {
  const [tenant = ''] = pod.split('/');
  const node = nodeOf(pod);
  const look = async (): Promise<Foothold> => {
    const { stdout } = await sandbox.exec(pod, ['sh', '-c', LOOK]);
    const [addresses, routes4, routes6, neighbours] = stdout.split('\n').map((line) => JSON.parse(line || '[]'));
    const own = linksSchema.parse(addresses);
    const gateways = pairOf(
      [routes4, routes6].flatMap((of) => routeSchema.parse(of)).map(({ gateway = '' }) => gateway),
    );
    const gatewayMac = neighbourSchema.parse(neighbours)[0]?.lladdr;
    if (gatewayMac === undefined) throw new Error(`${pod} does not know its gateway's MAC address`);
    const interfaceOf = (device: string): PodInterface => podInterface(own, device, links[node] ?? []);
    const isPlain = tenant === DEFAULT_TENANT;
    return {
      pod,
      tenant,
      node,
      gateways,
      gatewayMac,
      primary: interfaceOf(isPlain ? 'eth0' : 'ovn-udn1'),
      locked: isPlain ? undefined : interfaceOf('eth0'),
    };
  };
  return await eventually(look, NEIGHBOUR_MS);
};

const podInterface = (links: readonly Link[], device: string, nodeLinks: readonly Link[]): PodInterface => {
  const link = links.find(({ ifname }) => ifname === device);
  const end = nodeLinks.find(({ ifindex }) => ifindex === link?.link_index);
  if (link === undefined || end === undefined) throw new Error(`there is no ${device}`);
  return { ...interfaceOfLink(link), nodeDevice: end.ifname };
};

const interfaceOfLink = (link: Link): Interface => {
  const addresses = link.addr_info.flatMap(({ local }) => (local === undefined ? [] : [local]));
  return {
    device: link.ifname,
    mac: link.address,
    addresses: pairOf(addresses.filter((one) => !isLinkLocal6(parseIp(one)))),
    linkLocal: linkLocalOf(link),
  };
};

const linkLocalOf = ({ ifname, addr_info: infos }: Link): Ip => {
  const found = infos.flatMap(({ local }) => (local === undefined ? [] : [parseIp(local)])).find(isLinkLocal6);
  if (found === undefined) throw new Error(`${ifname} has no link-local address`);
  return found;
};

/** @throws Error when one of a family is missing */
const pairOf = (addresses: readonly string[]): AddressPair => {
  const found = (family: Family): Ip => {
    const one = addresses.map(parseIp).find((ip) => ipFamily(ip) === family);
    if (one === undefined) throw new Error(`none of ${addresses.join(', ')} is IPv${family}`);
    return one;
  };
  return { 4: found(4), 6: found(6) };
};

/** What the host and OVN have between each other: agent/model/registry. */
const FIXED_MASQUERADE = [1, 2, 3, 4, 5].flatMap((offset) => [`169.254.0.${offset}`, `fd69::${offset}`]);

const readNetworks = async (
  sandbox: Sandbox,
  node: string,
  links: readonly Link[],
): Promise<readonly KnownNetwork[]> => {
  const known = await networksOn(sandbox, node);
  return TENANTS.map((tenant): KnownNetwork => {
    const name = tenant === DEFAULT_TENANT ? 'default' : `${tenant}_net`;
    const network = known.find((one) => one.name === name);
    const port = links.find(({ ifname }) => ifname === `ovn-k8s-mp${network?.id}`);
    if (network === undefined || port === undefined) throw new Error(`${node} has no network ${name}`);
    const subnets = (network.nodeSubnets.length > 0 ? network.nodeSubnets : network.subnets).map((text) =>
      networkOfInterface(parseInterfaceAddress(text.split('/').slice(0, 2).join('/'))),
    );
    const masquerade = [...(network.masquerade?.gateway ?? []), ...(network.masquerade?.management ?? [])];
    const addresses = (masquerade.length > 0 ? masquerade : FIXED_MASQUERADE).map(parseIp);
    const ofFamily = (family: Family): readonly Ip[] => addresses.filter((ip) => ipFamily(ip) === family);
    return {
      tenant,
      managementPort: {
        device: port.ifname,
        mac: port.address,
        linkLocal: linkLocalOf(port),
        addresses: pairOf(subnets.map((subnet) => addressAt(parseCidr(subnet), 2))),
      },
      masquerade: { 4: ofFamily(4), 6: ofFamily(6) },
      broadcast: broadcastOf(subnets.find((subnet) => !subnet.includes(':')) ?? ''),
    };
  });
};

const broadcastOf = (subnet: string): Ip => {
  const cidr = parseCidr(subnet);
  const bits = 32 - Number(subnet.split('/')[1]);
  return addressAt(cidr, 2 ** bits - 1);
};

const readHost = async (sandbox: Sandbox, name: string): Promise<KnownHost> => {
  const device = name === 'outside' ? 'eth0' : 'br-ex';
  const argv = ['ip', '-j', 'addr', 'show', 'dev', device];
  const { stdout } = await (name === 'outside' ? sandbox.outside(argv) : sandbox.node(name, argv));
  const [link] = linksSchema.parse(JSON.parse(stdout));
  if (link === undefined) throw new Error(`${name} has no ${device}`);
  const address = (family: Family): Ip => (name === 'outside' ? outside(family) : nodeAddress(name, family));
  const [four, six] = FAMILIES.map(address);
  return { name, mac: link.address, linkLocal: linkLocalOf(link), addresses: pairOf([four ?? '', six ?? '']) };
};

const serviceSchema = z.object({ spec: z.object({ clusterIPs: z.array(z.string()) }) });

const readServices = async (sandbox: Sandbox): Promise<readonly KnownService[]> => {
  const objects = await sandbox.objects();
  return await Promise.all(
    SERVICES.map(async ({ name, port, nodePort, healthCheckPort, names, isLocked }) => {
      const { clusterIPs } = serviceSchema.parse(await objects.get('Service', name)).spec;
      const endpoints = isLocked ? [] : names;
      const tenant = name.split('/')[0] ?? '';
      return { name, port, nodePort, healthCheckPort, endpoints, tenant, addresses: pairOf(clusterIPs) };
    }),
  );
};
