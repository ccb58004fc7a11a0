/** The command line of `udn-agent`. Every flag has an environment variable of the same name. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { commaList } from '../../api/scalars.ts';
import { messageOf } from '../../base/error-message.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { DNS_NAME_RESOLVER_FLAG, readDnsNameResolver } from '../../program/dns-name-resolver.ts';
import { UsageError } from '../../program/errors.ts';
import {
  CLUSTER_FLAGS,
  type Environment,
  type Flag,
  type Flags,
  formatHelp,
  LOG_LEVEL_FLAG,
  type LogLevel,
  readClusterConfig,
  readFlags,
  readLogLevel,
} from '../../program/flags.ts';
import { METRICS_FLAGS, type MetricsOptions, readMetricsOptions } from '../../program/metrics-listeners.ts';
import type { DnsServer } from '../dns/servers.ts';
import type { TunnelEncryption } from '../model/view.ts';
import type { GatewayOptions } from '../node/uplink/types.ts';
import { DNS_FLAGS, readDnsServers } from './dns.ts';
import { ENCRYPTION_FLAGS, readEncryption } from './encryption.ts';
import { GATEWAY_FLAGS, readGatewayOptions } from './gateway.ts';
import { MULTI_NETWORK_FLAGS, type MultiNetworkOptions, readMultiNetwork } from './multi-network.ts';
import { readServiceOptions, SERVICE_FLAGS, type ServiceOptions } from './services.ts';

export interface AgentOptions extends ServiceOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly node: string;
  /** Empty: the node's internal addresses. */
  readonly encapIps: readonly Ip[];
  /** Absent: tunnels are not encrypted. */
  readonly encryption: TunnelEncryption | undefined;
  /** Remotes as OVSDB writes them: `unix:PATH`, `tcp:HOST:PORT`, `ssl:HOST:PORT`. */
  readonly ovsRemote: string;
  readonly northboundRemote: string;
  readonly southboundRemote: string;
  readonly cniSocket: string;
  readonly cniConfFolder: string;
  readonly cniBinFolder: string;
  readonly statusSocket: string;
  /** How long ADD waits for a pod's addresses, and then for its ports. */
  readonly cniWaitSeconds: number;
  readonly metrics: MetricsOptions;
  readonly logLevel: LogLevel;
  readonly gateway: GatewayOptions;
  /** Where the kubelet's processes are, below the root of cgroup v2; absent: it is looked for. */
  readonly kubeletCgroup: string | undefined;
  /** Where the address of the API server is read when the environment has a ClusterIP; absent: nowhere. */
  readonly kubeletKubeconfig: string | undefined;
  readonly multiNetwork: MultiNetworkOptions;
  readonly networkRendering: 'always' | 'on-demand';
  readonly networkGraceSeconds: number;
  /** Of one network on this node; 0: any number; absent: by the size of the node's table. */
  readonly connectionsPerNetwork: number | undefined;
  /** Empty: those of resolv.conf. */
  readonly dnsServers: readonly DnsServer[];
  /** Namespace of DNSNameResolvers; absent: wildcards of domain names are refused. */
  readonly dnsNameResolver: string | undefined;
  readonly cluster: ClusterConfig;
}

/** What `cleanup` needs: no API server, and no name of the node. */
export type CleanupOptions = Omit<
  AgentOptions,
  | 'kubeconfig'
  | 'context'
  | 'node'
  | 'encapIps'
  | 'encryption'
  | 'cniWaitSeconds'
  | 'metrics'
  | 'gateway'
  | 'kubeletCgroup'
  | 'kubeletKubeconfig'
  | 'multiNetwork'
  | 'networkRendering'
  | 'networkGraceSeconds'
  | keyof ServiceOptions
  | 'connectionsPerNetwork'
  | 'dnsServers'
  | 'dnsNameResolver'
>;

export type AgentCommand =
  | { readonly kind: 'run'; readonly options: AgentOptions }
  | { readonly kind: 'cleanup'; readonly options: CleanupOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' };

/** A kubelet gives up after two minutes. */
const DEFAULT_CNI_WAIT_SECONDS = 50;

/** A pod that is deleted is mostly followed by another one within minutes. */
const DEFAULT_GRACE_SECONDS = 300;

const FLAGS: readonly Flag[] = [
  { flag: 'kubeconfig', help: 'kubeconfig file', defaultText: '$KUBECONFIG, else in-cluster' },
  { flag: 'context', help: 'context of the kubeconfig', defaultText: 'the current one' },
  { flag: 'node', help: 'name of the Node that this agent serves' },
  { flag: 'encap-ips', help: 'IP addresses of the tunnel endpoint', defaultText: "the Node's first internal address" },
  ...ENCRYPTION_FLAGS,
  { flag: 'ovs-remote', help: 'the Open_vSwitch database', defaultText: 'unix:/run/openvswitch/db.sock' },
  { flag: 'nb-remote', help: 'the northbound database', defaultText: 'unix:/run/ovn/ovnnb_db.sock' },
  { flag: 'sb-remote', help: 'the southbound database', defaultText: 'unix:/run/ovn/ovnsb_db.sock' },
  { flag: 'cni-socket', help: 'socket of the CNI shim', defaultText: '/run/ovn-udn/cni.sock' },
  { flag: 'cni-conf-dir', help: 'directory of CNI configurations', defaultText: '/etc/cni/net.d' },
  { flag: 'cni-bin-dir', help: 'directory of CNI plugins', defaultText: '/opt/cni/bin' },
  {
    flag: 'cni-wait',
    help: 'seconds that CNI ADD waits for addresses and for ports',
    defaultText: String(DEFAULT_CNI_WAIT_SECONDS),
  },
  { flag: 'status-socket', help: 'status socket for udnctl', defaultText: '/run/ovn-udn/agent.sock' },
  ...METRICS_FLAGS,
  LOG_LEVEL_FLAG,
  ...GATEWAY_FLAGS,
  { flag: 'kubelet-cgroup', help: 'cgroup of the kubelet, below the root of cgroup v2', defaultText: 'detected' },
  {
    flag: 'kubelet-kubeconfig',
    help: "the kubelet's kubeconfig: in a pod, its server is used instead of the ClusterIP of the API server",
    defaultText: 'none',
  },
  ...MULTI_NETWORK_FLAGS,
  {
    flag: 'network-rendering',
    help: 'always: program every network with a subnet on this node; on-demand: only those that a pod on this node uses',
    defaultText: 'always',
  },
  {
    flag: 'network-grace',
    help: 'seconds that a network stays after its last pod, with on-demand',
    defaultText: String(DEFAULT_GRACE_SECONDS),
  },
  ...SERVICE_FLAGS,
  {
    flag: 'connections-per-network',
    help: 'maximum number of connections of a network on this node; 0: unlimited',
    defaultText: 'a sixteenth of nf_conntrack_max',
  },
  ...DNS_FLAGS,
  DNS_NAME_RESOLVER_FLAG,
  ...CLUSTER_FLAGS,
];

const CLEANUP_FLAGS: ReadonlySet<string> = new Set([
  'ovs-remote',
  'nb-remote',
  'sb-remote',
  'cni-socket',
  'cni-conf-dir',
  'cni-bin-dir',
  'status-socket',
  LOG_LEVEL_FLAG.flag,
  ...CLUSTER_FLAGS.map(({ flag }) => flag),
]);

/** @throws UsageError */
export const parseAgentCommand = (args: readonly string[], env: Environment): AgentCommand => {
  const flags = readFlags(FLAGS, args, env);
  if (flags.help) return { kind: 'help' };
  if (flags.version) return { kind: 'version' };
  const [command, unexpected = command] = flags.positionals;
  if (command === 'cleanup' && flags.positionals.length === 1) return { kind: 'cleanup', options: readCleanup(flags) };
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"`);
  return { kind: 'run', options: readOptions(flags) };
};

export const agentHelp = (): string =>
  formatHelp({
    usage: 'udn-agent --node NAME [--kubeconfig FILE] [flags] | udn-agent cleanup [flags]',
    about: [
      'Programs the networks of one node: OVN rows, OVS ports and the interfaces of its pods; serves CNI.',
      'Runs until SIGTERM or SIGINT. The programmed state stays.',
      '',
      'cleanup removes everything of ovn-udn from the node: ports and interfaces of pods, OVN rows, settings of Open vSwitch,',
      'the CNI plugin and its configuration; an interface that became the port of a gateway bridge gets its addresses and',
      'routes back. The agent must not be running; northd and ovn-controller should be. Of the flags it takes',
      `${flagList(CLEANUP_FLAGS)}.`,
    ],
    flags: FLAGS,
  });

const readOptions = (flags: Flags): AgentOptions => {
  const node = flags.text('node');
  if (node === undefined) throw new UsageError('--node is required');
  return {
    kubeconfig: flags.text('kubeconfig'),
    context: flags.text('context'),
    node,
    encapIps: readEncapIps(flags.text('encap-ips') ?? ''),
    encryption: readEncryption(flags),
    cniWaitSeconds: readSeconds(flags, 'cni-wait', DEFAULT_CNI_WAIT_SECONDS),
    metrics: readMetricsOptions(flags),
    gateway: readGatewayOptions(flags),
    kubeletCgroup: readCgroup(flags.text('kubelet-cgroup')),
    kubeletKubeconfig: flags.text('kubelet-kubeconfig'),
    multiNetwork: readMultiNetwork(flags),
    networkRendering: readRendering(flags.text('network-rendering') ?? 'always'),
    networkGraceSeconds: readSeconds(flags, 'network-grace', DEFAULT_GRACE_SECONDS),
    ...readServiceOptions(flags),
    connectionsPerNetwork: readConnections(flags.text('connections-per-network')),
    dnsServers: readDnsServers(flags),
    dnsNameResolver: readDnsNameResolver(flags),
    ...readLocal(flags),
  };
};

/** @throws UsageError */
const readConnections = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  // What the datapath holds such a number in, ovs-vswitchd.conf.db(5).
  if (count <= 0xffff_ffff) return count;
  throw new UsageError(`--connections-per-network "${text}" is not a number from 0 to 4294967295`);
};

/** @throws UsageError for a flag that says something about a running agent: it would do nothing here */
const readCleanup = (flags: Flags): CleanupOptions => {
  const useless = [...flags.given].find((flag) => !CLEANUP_FLAGS.has(flag));
  if (useless === undefined) return readLocal(flags);
  throw new UsageError(`cleanup does not accept --${useless}; it accepts ${flagList(CLEANUP_FLAGS)}`);
};

const flagList = (flags: Iterable<string>): string => [...flags].map((flag) => `--${flag}`).join(', ');

const readLocal = (flags: Flags): CleanupOptions => {
  const path = (flag: string): string => flags.text(flag) ?? defaultOf(flag);
  return {
    ovsRemote: path('ovs-remote'),
    northboundRemote: path('nb-remote'),
    southboundRemote: path('sb-remote'),
    cniSocket: path('cni-socket'),
    cniConfFolder: path('cni-conf-dir'),
    cniBinFolder: path('cni-bin-dir'),
    statusSocket: path('status-socket'),
    logLevel: readLogLevel(flags),
    cluster: readClusterConfig(flags),
  };
};

/** @throws UsageError */
const readRendering = (text: string): 'always' | 'on-demand' => {
  if (text === 'always' || text === 'on-demand') return text;
  throw new UsageError(`--network-rendering must be always or on-demand, not "${text}"`);
};

/** @throws UsageError */
const readCgroup = (text: string | undefined): string | undefined => {
  if (text === undefined || /^[^/\0"\n]+(\/[^/\0"\n]+)*$/.test(text)) return text;
  throw new UsageError(`--kubelet-cgroup must be a path without a slash in front, not "${text}"`);
};

/** @throws UsageError */
const readSeconds = (flags: Flags, flag: string, otherwise: number): number => {
  const text = flags.text(flag);
  if (text === undefined) return otherwise;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new UsageError(`--${flag} must be a number of seconds, not "${text}"`);
  return Number(text);
};

const defaultOf = (flag: string): string => FLAGS.find((one) => one.flag === flag)?.defaultText ?? '';

const readEncapIps = (text: string): Ip[] => {
  try {
    return commaList(text).map(parseIp);
  } catch (error) {
    throw new UsageError(`--encap-ips: ${messageOf(error)}`);
  }
};
