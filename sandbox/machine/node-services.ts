/** OVS and OVN of one node, from nothing to br-ex with the node's addresses. */
import type { Authority } from '../api/kube/certificate.ts';
import type { Datapath } from '../plan/bridge.ts';
import { type DaemonSpec, daemonSpecs, OVS_SOCKET } from '../plan/daemons.ts';
import { encryptionDaemon } from '../plan/encryption.ts';
import type { HostPlan, NetPlan } from '../plan/netplan.ts';
import type { SandboxOptions } from '../plan/options.ts';
import { UPLINK_GUARD } from '../plan/userspace.ts';
import { partReady, unlessEnded } from '../process/parts.ts';
import { run } from '../process/run.ts';
import { REPORT_FD, type Service, startService } from '../process/service.ts';
import { waitForSocket } from '../process/wait-for-path.ts';
import { installDatabases } from './databases.ts';
import { installCredentials } from './encryption.ts';
import { keepGatewayBridge, keepPlainUplink, keepUplinkWithoutOvs, provisionAgain } from './gateway-bridge.ts';
import type { Machine } from './types.ts';

export interface NodeServicesSpec {
  readonly node: Machine;
  readonly plan: NetPlan;
  readonly host: HostPlan;
  readonly datapath: Datapath;
  readonly uplink: SandboxOptions['uplink'];
  readonly ovn: SandboxOptions['ovn'];
  /** Whether the node has a container runtime. */
  readonly hasRuntime: boolean;
  /** Who issues the certificates of tunnels, where they are encrypted. */
  readonly authority: Authority | undefined;
  /** With the files of databases.ts. */
  readonly databases: string;
  readonly logOf: (program: string) => string;
  readonly onService: (service: Service) => void;
  readonly onError: (error: unknown) => void;
  /** Aborts when the sandbox goes down. */
  readonly lifetime: AbortSignal;
}

/** Reports each daemon through `onService` as it starts. Resolves when the node is provisioned. */
export const startNodeServices = async (spec: NodeServicesSpec, signal: AbortSignal): Promise<void> => {
  if (spec.ovn === 'pods') return await keepUplinkWithoutOvs(spec, signal);
  const specs = daemonSpecs();
  const servers = specs.filter(({ socket }) => socket !== undefined);
  await installDatabases(spec.databases, spec.node);
  await Promise.all([guardUplink(spec, signal), ...servers.map((daemon) => startServer(spec, daemon, signal))]);
  const daemons = specs.filter(({ socket }) => socket === undefined).map((daemon) => startDaemon(spec, daemon));
  if (spec.authority !== undefined) {
    await installCredentials(spec.authority, spec.node, spec.host);
    startDaemon(spec, encryptionDaemon(OVS_SOCKET));
  }
  const switchd = daemons.find(({ name }) => name === 'ovs-vswitchd');
  const provisioned = spec.uplink === 'bridge' ? keepGatewayBridge(spec, signal) : keepPlainUplink(spec, signal);
  await partReady(`the uplink of ${spec.node.name}`, switchd?.log, provisioned);
};

/**
 * What runs on a node that boots: its daemons, in the order of their start. Databases are empty on a node of the stand-in, whose disk is lost, and as they
 * were on one with a container runtime, which keeps its own files.
 */
export const restartNodeServices = async (
  spec: NodeServicesSpec,
  services: readonly Service[],
  signal: AbortSignal,
): Promise<void> => {
  const { node } = spec;
  if (!spec.hasRuntime) await installDatabases(spec.databases, node);
  await guardUplink(spec, signal);
  const named = (serviceName: string): Service | undefined => services.find(({ name }) => name === serviceName);
  const [servers, others] = [[] as DaemonSpec[], [] as DaemonSpec[]];
  for (const daemon of daemonSpecs()) (daemon.socket === undefined ? others : servers).push(daemon);
  await Promise.all(
    servers.map(async ({ name, socket = '' }) => {
      named(name)?.release();
      await waitForSocket(node.pathOf(socket), signal);
    }),
  );
  const vsctl = (...args: string[]) => run(node.enter(['ovs-vsctl', ...args]), undefined, signal);
  // A database that is kept says of its bridges that they are there.
  await vsctl('--no-wait', 'set', 'Open_vSwitch', '.', 'cur_cfg=-1');
  for (const { name } of others) named(name)?.release();
  await vsctl('--timeout=30', 'wait-until', 'Open_vSwitch', '.', 'cur_cfg>=0');
  await provisionAgain(spec, signal);
};

const guardUplink = async ({ node, datapath, uplink }: NodeServicesSpec, signal: AbortSignal): Promise<void> => {
  if (datapath === 'netdev' && uplink === 'bridge') await run(node.enter(['nft', '-f', '-']), UPLINK_GUARD, signal);
};

const startServer = async (spec: NodeServicesSpec, daemon: DaemonSpec, signal: AbortSignal): Promise<void> => {
  const service = startDaemon(spec, daemon);
  if (daemon.socket === undefined) return;
  const ready = waitForSocket(spec.node.pathOf(daemon.socket), signal);
  await partReady(`${daemon.name} of ${spec.node.name}`, service.log, unlessEnded(service, ready));
};

const startDaemon = ({ node, logOf, onService }: NodeServicesSpec, { name, argv }: DaemonSpec): Service => {
  const command = node.enter(argv, { cgroup: `system.slice/${name}.service`, reportPid: REPORT_FD });
  const service = startService({ name, command, log: logOf(name) });
  onService(service);
  return service;
};
