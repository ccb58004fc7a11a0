/** Makes all machines of a sandbox and the network between them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type NamespaceSpec, startNamespaces } from '../machine/namespaces.ts';
import { furnishNode, nodeRoot } from '../machine/node-root.ts';
import type { Machine } from '../machine/types.ts';
import { connectMachines } from '../machine/underlay.ts';
import { serviceSubnets } from '../plan/cluster-settings.ts';
import { routesBy } from '../plan/links.ts';
import { USERSPACE_SYSCTLS } from '../plan/userspace.ts';
import { REPORT_FD, startService } from '../process/service.ts';
import {
  addService,
  type ClusterContext,
  type ClusterState,
  logPath,
  OUTSIDE,
  SERVICES,
  UNDERLAY,
} from './cluster-context.ts';

/** What Kubernetes asks of a node; and addresses that are there at once. */
const NODE_SYSCTLS: readonly string[] = [
  'net.ipv4.ip_forward=1',
  'net.ipv6.conf.all.forwarding=1',
  'net.ipv6.conf.default.accept_dad=0',
  'net.ipv6.conf.default.accept_ra=0',
];
const HOST_SYSCTLS: readonly string[] = ['net.ipv6.conf.default.accept_dad=0', 'net.ipv6.conf.default.accept_ra=0'];
/** The router of the node network: in local gateway mode tenants send everything to it, also what is for a host beside it. */
const ROUTER_SYSCTLS: readonly string[] = [...HOST_SYSCTLS, 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'];

export const startMachines = async (
  context: ClusterContext,
  state: ClusterState,
  signal: AbortSignal,
): Promise<void> => {
  const { plan, tree, datapath } = context;
  const nodeSysctls = [...NODE_SYSCTLS, ...(datapath === 'netdev' ? USERSPACE_SYSCTLS : [])];
  const start = async (spec: Omit<NamespaceSpec, 'toolbox' | 'cgroupRoot' | 'log'>): Promise<Machine> => {
    const starting = startNamespaces({ ...spec, ...workspaceOf(context, spec.name) }, signal);
    state.starting.add(starting);
    const machine = await starting;
    state.machines.set(spec.name, machine);
    return machine;
  };
  const [underlay, outside, , ...nodes] = await Promise.all([
    start({ name: UNDERLAY, hasNetwork: true, sysctls: ROUTER_SYSCTLS }),
    startRooted(context, OUTSIDE, HOST_SYSCTLS, start),
    start({ name: SERVICES }),
    ...plan.nodes.map(({ name }) => startRooted(context, name, nodeSysctls, start)),
  ]);
  await Promise.all([
    connectMachines({ tree, plan, routes: egressRoutes(context), underlay, outside, nodes }),
    ...nodes.map((node) => furnishNode(context.artifacts, plan, node)),
  ]);
  startOutsideServer(context, state, outside);
};

/** Of the API server's host, which is the router: by the first node. */
const egressRoutes = ({ options, plan }: ClusterContext): string[] =>
  options.egress === 'route' ? routesBy(plan.nodes[0], serviceSubnets(options.ipFamily)) : [];

const startRooted = async (
  context: ClusterContext,
  name: string,
  sysctls: readonly string[],
  start: (spec: Omit<NamespaceSpec, 'toolbox' | 'cgroupRoot' | 'log'>) => Promise<Machine>,
): Promise<Machine> => {
  const staging = join(context.folder.mounts, name);
  await mkdir(staging);
  const { artifacts, tree, realKubelet, coredns, cniPlugins, konnectivity } = context;
  const parts = { realKubelet, coredns, cniPlugins, konnectivityAgent: konnectivity?.['konnectivity-agent'] };
  const root = nodeRoot(artifacts, tree, staging, name === OUTSIDE ? {} : parts);
  return await start({ name, hasNetwork: true, sysctls, root });
};

const workspaceOf = (context: ClusterContext, name: string): Pick<NamespaceSpec, 'toolbox' | 'cgroupRoot' | 'log'> => ({
  toolbox: context.artifacts.toolbox,
  cgroupRoot: context.cgroup,
  log: logPath(context, name, 'init'),
});

/** The host outside the cluster answers as pods do. */
const startOutsideServer = (context: ClusterContext, state: ClusterState, outside: Machine): void => {
  const command = outside.enter(['toolbox', 'serve'], { cgroup: 'system.slice', reportPid: REPORT_FD });
  const log = logPath(context, OUTSIDE, 'server');
  addService(state, OUTSIDE, startService({ name: 'server', command, log }));
};
