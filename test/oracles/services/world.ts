/** Services of every policy with endpoints at every place, on a network of each kind, and who asks for them. */
import { cidrFamily, parseCidr } from '../../../net/cidr.ts';
import { FAMILIES, ipFamily, parseIp } from '../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { applyAndWait } from '../../e2e/support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../../e2e/support/cluster/manifests.ts';
import { nodeAddress } from '../../e2e/support/networks/north-south.ts';
import { type EntryPoints, giveIngress } from '../../e2e/support/services/entry-points.ts';
import { clusterIps, SERVED } from '../../e2e/support/services/services.ts';
import type { Target } from '../reachability/service-clients.ts';
import {
  type Cell,
  type EndpointPlacement,
  OWNERS,
  type Owner,
  POLICIES,
  type Policy,
  PROTOCOLS,
} from './dimensions.ts';

const NODES = ['node-1', 'node-2'] as const;
type NodeName = (typeof NODES)[number];
/** Where clients are, and where those outside send to. */
export const NEAR = 'node-1';

export const NAMESPACES: Readonly<Record<Owner, string>> = {
  'layer 3': 'svc-routed',
  'layer 2': 'svc-switched',
  default: 'svc-default',
};
/** A tenant with the same subnets as the routed one. */
export const TWIN = 'svc-twin';
const ROUTED = ['10.78.0.0/16/24', 'fd00:78::/48/64'];

/** Where the endpoints of a Service are. */
const SITES = [...NODES, 'both', 'none', 'nodes'] as const;
type Site = (typeof SITES)[number];

const SERVICES = OWNERS.flatMap((owner) =>
  POLICIES.flatMap((policy) => SITES.map((site) => ({ owner, policy, site }) as const)),
);
type Served = (typeof SERVICES)[number];

const key = ({ owner, policy, site }: Served): string => `${NAMESPACES[owner]}/${nameOf(policy, site)}`;
const nameOf = (policy: Policy, site: Site): string => `${policy.toLowerCase().replace(' ', '-')}-${site}`;

/** Not those of `doorsOf`: other tests have them in the same cluster. */
const entryPointsAt = (index: number): EntryPoints => ({
  nodePort: 31_000 + index,
  externalIps: [`203.0.113.${1 + index}`, `2001:db8:113::${1 + index}`],
  ingress: [`198.51.100.${1 + index}`, `2001:db8:51::${1 + index}`],
});
const entryPoints = new Map(SERVICES.map((one, index) => [key(one), entryPointsAt(index)]));
const entryPointsOf = (one: Served): EntryPoints => entryPoints.get(key(one)) ?? entryPointsAt(0);

const PORTS = { TCP: 80, UDP: 53, SCTP: 90 } as const;
/** Of host-network pods: each of another owner, on the same node. */
const portOnNode = (owner: Owner, port: number): number => port + 10_000 + 10 * OWNERS.indexOf(owner);

const SELECTORS: Readonly<Record<Site, Readonly<Record<string, string>>>> = {
  'node-1': { app: 'web', on: 'node-1' },
  'node-2': { app: 'web', on: 'node-2' },
  both: { app: 'web' },
  none: { app: 'none' },
  nodes: { app: 'nodes' },
};

const serviceOf = (one: Served): ManifestObject => {
  const { owner, policy, site } = one;
  const { nodePort, externalIps } = entryPointsOf(one);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: NAMESPACES[owner], name: nameOf(policy, site) },
    spec: {
      type: 'LoadBalancer',
      selector: SELECTORS[site],
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
      externalIPs: externalIps,
      ...(policy === 'ETP Local' && { externalTrafficPolicy: 'Local' }),
      ...(policy === 'ITP Local' && { internalTrafficPolicy: 'Local' }),
      ports: PROTOCOLS.map((protocol) => ({
        name: protocol.toLowerCase(),
        protocol,
        port: PORTS[protocol],
        targetPort: site === 'nodes' ? portOnNode(owner, SERVED[protocol]) : SERVED[protocol],
        nodePort,
      })),
    },
  };
};

const web = (owner: Owner, node: NodeName): ManifestObject => {
  const made = pod(NAMESPACES[owner], `web-${node}`, node);
  return { ...made, metadata: { ...made.metadata, labels: { app: 'web', on: node } } };
};

const onNode = (owner: Owner, node: NodeName): ManifestObject => {
  const made = pod(NAMESPACES[owner], `host-${node}`, node);
  const { TCP, UDP, SCTP } = SERVED;
  const ports = { http: TCP, udp: UDP, sctp: SCTP };
  const options = [
    ...Object.entries(ports).flatMap(([name, port]) => [`--${name}-port`, `${portOnNode(owner, port)}`]),
    ...FAMILIES.flatMap((family) => ['--sctp-address', nodeAddress(node, family)]),
  ];
  const command = ['toolbox', 'serve', ...options, '--tcp-port', '0', '--hostname', `host-${node}`];
  return {
    ...made,
    metadata: { ...made.metadata, labels: { app: 'nodes' } },
    spec: { ...(made['spec'] as object), hostNetwork: true, containers: [{ name: 'main', image: 'toolbox', command }] },
  };
};

const manifestsOf = (services: readonly Served[]): readonly ManifestObject[] => [
  ...['svc-routed', 'svc-switched', TWIN].map((name) => namespace(name)),
  plainNamespace('svc-default'),
  layer3('svc-routed', 'net', ROUTED),
  layer3(TWIN, 'net', ROUTED),
  layer2('svc-switched', 'net', ['10.79.0.0/16', 'fd00:79::/64']),
  ...services.map(serviceOf),
  ...[...Object.values(NAMESPACES), TWIN].map((name) => pod(name, 'client', NEAR)),
  ...OWNERS.flatMap((owner) => NODES.flatMap((node) => [web(owner, node), onNode(owner, node)])),
];

/** The ClusterIPs of each Service. */
export type World = ReadonlyMap<string, readonly string[]>;

/** With the Services that are asked for. Resolves when OVN has them: a guest needs a minute for that, with many. */
export const makeWorld = async (sandbox: Sandbox, cells: readonly Cell[]): Promise<World> => {
  const asked = new Set(cells.map(keyOf));
  const services = SERVICES.filter((one) => asked.has(key(one)));
  await applyAndWait(sandbox, manifestsOf(services));
  const balanced = new Set(cells.filter(({ to }) => to === 'address of a load balancer').map(keyOf));
  for (const one of services.filter((served) => balanced.has(key(served)))) {
    await giveIngress(sandbox, key(one), entryPointsOf(one));
  }
  await routeOutside(sandbox);
  for (const node of NODES) await sandbox.node(node, ['ovn-nbctl', '--wait=hv', '--timeout=200', 'sync']);
  return new Map(
    await Promise.all(services.map(async (one) => [key(one), await clusterIps(sandbox, key(one))] as const)),
  );
};

/** On the host outside: their addresses are behind a node. The ranges have none of `doorsOf`. */
const routeOutside = async (sandbox: Sandbox): Promise<void> => {
  const ranges = ['203.0.113.0/26', '198.51.100.0/26', '2001:db8:113::/121', '2001:db8:51::/121'].map(parseCidr);
  const commands = ranges.map((cidr) => {
    const family = cidrFamily(cidr);
    return `ip -${family} route replace ${cidr} via ${nodeAddress(NEAR, family)}`;
  });
  await sandbox.outside(['sh', '-ec', commands.join('\n')]);
};

/** The node that has the entry point of a cell. */
export const entryNode = ({ from, to }: Cell): NodeName =>
  to === 'node port of another node' && from !== 'outside' ? 'node-2' : NEAR;

const servedBy = (cell: Cell): Served => ({ owner: cell.owner, policy: cell.policy, site: siteOf(cell) });

const keyOf = (cell: Cell): string => key(servedBy(cell));

const siteOf = (cell: Cell): Site => {
  const node = entryNode(cell);
  const sites: Readonly<Record<EndpointPlacement, Site>> = {
    here: node,
    there: otherNode(node),
    both: 'both',
    none: 'none',
    nodes: 'nodes',
  };
  return sites[cell.endpoints];
};

const otherNode = (node: NodeName): NodeName => (node === 'node-1' ? 'node-2' : 'node-1');

export const targetOf = (world: World, cell: Cell): Target => {
  const { family, protocol } = cell;
  const served = servedBy(cell);
  const { nodePort, externalIps, ingress } = entryPointsOf(served);
  const ofFamily = (ips: readonly string[]): string => ips.find((ip) => ipFamily(parseIp(ip)) === family) ?? '';
  const port = PORTS[protocol];
  switch (cell.to) {
    case 'ClusterIP':
      return { ip: ofFamily(world.get(key(served)) ?? []), port, protocol };
    case 'externalIP':
      return { ip: ofFamily(externalIps), port, protocol };
    case 'address of a load balancer':
      return { ip: ofFamily(ingress), port, protocol };
    default:
      return { ip: nodeAddress(entryNode(cell), family), port: nodePort, protocol };
  }
};

/** Names of the endpoints of a cell's Service, or those of the node with the entry point. */
export const endpointsOf = (cell: Cell, which: 'all' | 'here'): string[] => {
  const site = siteOf(cell);
  const nodes = { 'node-1': ['node-1'], 'node-2': ['node-2'], both: NODES, none: [], nodes: NODES }[site];
  const name = (node: string): string => `${site === 'nodes' ? 'host' : 'web'}-${node}`;
  return nodes.filter((node) => which === 'all' || node === entryNode(cell)).map(name);
};
