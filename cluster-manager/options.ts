/** The command line of `udn-cluster-manager`. */
import type { ClusterConfig } from '../api/cluster-config.ts';
import { DNS_NAME_RESOLVER_FLAG, readDnsNameResolver } from '../program/dns-name-resolver.ts';
import { UsageError } from '../program/errors.ts';
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
} from '../program/flags.ts';
import { METRICS_FLAGS, type MetricsOptions, readMetricsOptions } from '../program/metrics-listeners.ts';
import { MOST_NETWORKS, type NetworkLimits, PER_NAMESPACE_FLAG } from './allocation/network-room.ts';

export interface Options {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Where the agent of the node publishes the address of the API server; absent: nowhere. */
  readonly apiServerFile: string | undefined;
  readonly lease: LeaseOptions;
  /** False: it works without holding the Lease, and only while no other instance holds it. */
  readonly electsLeader: boolean;
  readonly metrics: MetricsOptions;
  readonly logLevel: LogLevel;
  readonly cluster: ClusterConfig;
  readonly limits: NetworkLimits;
  /** Namespace of DNSNameResolvers; absent: wildcards of domain names are not followed. */
  readonly dnsNameResolver: string | undefined;
}

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** How long the others wait for a leader that says nothing. */
  readonly seconds: number;
}

/** What `cleanup` takes. It runs when no agent does. */
export interface CleanupOptions extends Pick<Options, 'kubeconfig' | 'context' | 'logLevel' | 'cluster'> {
  /** Of the node's kubelet: where the address of the API server is read when the environment has a ClusterIP. */
  readonly kubeletKubeconfig: string | undefined;
}

export type Command =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'cleanup'; readonly options: CleanupOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' };

/** @throws UsageError */
export const parseCommand = (args: readonly string[], env: Environment): Command => {
  const flags = readFlags(FLAGS, args, env);
  if (flags.help) return { kind: 'help' };
  if (flags.version) return { kind: 'version' };
  const [command, extra = command] = flags.positionals;
  if (command === 'cleanup' && flags.positionals.length === 1) return { kind: 'cleanup', options: readCleanup(flags) };
  if (extra !== undefined) throw new UsageError(`"${extra}" is not a flag`);
  return {
    kind: 'run',
    options: {
      kubeconfig: flags.text('kubeconfig'),
      context: flags.text('context'),
      apiServerFile: flags.text('api-server-file'),
      lease: readLease(flags.text('lease'), flags.text('lease-duration')),
      electsLeader: readBoolean('--leader-elect', flags.text('leader-elect')),
      metrics: readMetricsOptions(flags),
      logLevel: readLogLevel(flags),
      cluster: readClusterConfig(flags),
      limits: {
        maxNetworks: readMost('--max-networks', flags.text('max-networks')),
        maxNetworksPerNamespace: readMost(PER_NAMESPACE_FLAG, flags.text('max-networks-per-namespace')),
      },
      dnsNameResolver: readDnsNameResolver(flags),
    },
  };
};

const readCleanup = (flags: Flags): CleanupOptions => ({
  kubeconfig: flags.text('kubeconfig'),
  context: flags.text('context'),
  kubeletKubeconfig: flags.text('kubelet-kubeconfig'),
  logLevel: readLogLevel(flags),
  cluster: readClusterConfig(flags),
});

/** That of the manifests: whoever runs another cluster manager by hand meets it. */
const DEFAULT_LEASE = 'ovn-udn/udn-cluster-manager';

const readBoolean = (flag: string, text = 'true'): boolean => {
  if (text !== 'true' && text !== 'false') throw new UsageError(`${flag} must be true or false, not "${text}"`);
  return text === 'true';
};

const readLease = (text = DEFAULT_LEASE, duration = '15'): LeaseOptions => {
  const seconds = Number(duration);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new UsageError(`--lease-duration must be a number of seconds, not "${duration}"`);
  }
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined) throw new UsageError(`--lease "${text}" is not namespace/name`);
  return { namespace, name, seconds };
};

const readMost = (flag: string, text = String(MOST_NETWORKS)): number => {
  const number = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= MOST_NETWORKS) return number;
  throw new UsageError(`${flag} must be a number from 0 to ${MOST_NETWORKS}, not "${text}"`);
};

export const helpText = (): string =>
  formatHelp({
    usage: 'udn-cluster-manager [--kubeconfig FILE] [flags] | udn-cluster-manager cleanup [flags]',
    about: [
      'Allocates what user-defined networks share in the whole cluster: their NADs, ids, subnets and layer-2 addresses.',
      'Runs until SIGTERM or SIGINT.',
      '',
      'cleanup removes annotations and conditions of ovn-udn from all Nodes, after both programs were deleted. Of the flags it takes',
      '--kubeconfig, --context, --kubelet-kubeconfig, --service-subnets and --log-level.',
    ],
    flags: FLAGS,
  });

const FLAGS: readonly Flag[] = [
  { flag: 'kubeconfig', help: 'kubeconfig file', defaultText: '$KUBECONFIG, else in-cluster' },
  { flag: 'context', help: 'context of the kubeconfig', defaultText: 'the current one' },
  {
    flag: 'api-server-file',
    help: 'file in which the agent of this node publishes the address of the API server, for a node without kube-proxy',
    defaultText: 'none',
  },
  {
    flag: 'kubelet-kubeconfig',
    help: "for cleanup: the kubelet's kubeconfig, whose server is used instead of the ClusterIP of the API server",
    defaultText: 'none',
  },
  { flag: 'lease', help: 'Lease (namespace/name) of the leader election', defaultText: DEFAULT_LEASE },
  {
    flag: 'leader-elect',
    help: 'false: run without leader election, and exit when another instance holds the Lease',
    defaultText: 'true',
  },
  {
    flag: 'lease-duration',
    help: 'seconds without a renewal after which another instance may take the Lease',
    defaultText: '15',
  },
  {
    flag: 'max-networks',
    help: 'maximum number of networks in the cluster',
    defaultText: `${MOST_NETWORKS}`,
  },
  {
    flag: 'max-networks-per-namespace',
    help: 'maximum number of networks in each namespace; networks of the cluster do not count',
    defaultText: `${MOST_NETWORKS}`,
  },
  DNS_NAME_RESOLVER_FLAG,
  ...METRICS_FLAGS,
  LOG_LEVEL_FLAG,
  ...CLUSTER_FLAGS,
];
