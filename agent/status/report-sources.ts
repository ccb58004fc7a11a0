import type { ClusterConfig } from '../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { NetworkStatusKeeper } from '../cni/attachments/status-keeper.ts';
import { comparableFilters } from '../cni/comparable-filters.ts';
import type { CniHandler } from '../cni/handler.ts';
import type { LostPorts } from '../cni/lost-ports.ts';
import type { OvsPorts } from '../cni/ovs-ports.ts';
import type { PluginKeeper } from '../cni/plugin-keeper.ts';
import type { ConnectionUsage } from '../connections/usage.ts';
import type { Domains } from '../dns/start.ts';
import type { EncryptionState } from '../encryption/encryption.ts';
import type { PeerWatch } from '../encryption/peers.ts';
import { FEATURES } from '../features/index.ts';
import { failureToFollow, failureToHear, problemsOfHealth } from '../health/component.ts';
import { daemonVersions, problemsOfVersions } from '../health/daemon-versions.ts';
import type { NodeHealth } from '../health/start.ts';
import type { FactFeeder } from '../inputs/fact-feeder.ts';
import { keyOfMulti } from '../inputs/policies/multi-notes.ts';
import type { Problem } from '../inputs/problem.ts';
import { networkOfId, podOfId } from '../model/facts.ts';
import type { LocalSettings } from '../model/view.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { comparableMapping } from '../node/uplink/comparable-mapping.ts';
import type { NodePorts } from '../node-ports/node-ports.ts';
import type { Reconcilers } from '../reconcile/reconcilers.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { networkFinder } from './network-of.ts';
import type { PolicyLookup } from './policies/sources.ts';
import { connectedDatabases } from './probes.ts';
import type { ReportSources } from './report.ts';
import { problemsOfWires } from './shared-wires.ts';

export interface Parts {
  readonly edges: Pick<Edges, 'client' | 'databases' | 'drift' | 'inputs' | 'netlink'>;
  readonly core: Core;
  readonly ports: OvsPorts;
  readonly handler: Pick<CniHandler, 'failures' | 'isBusy'>;
  readonly lost: Pick<LostPorts, 'problems'>;
  readonly status: Pick<NetworkStatusKeeper, 'unwritten'>;
  readonly plugin: Pick<PluginKeeper, 'problems'>;
  readonly keeper: Pick<NodeKeeper, 'problems'>;
  readonly nodePorts: Pick<NodePorts, 'problems'>;
  readonly usage: Pick<ConnectionUsage, 'problems'>;
  /** Other nodes, where tunnels are encrypted. */
  readonly peers: Pick<PeerWatch, 'problems'>;
  readonly encryption: Pick<EncryptionState, 'problems'>;
  readonly health: Pick<NodeHealth, 'components'>;
  readonly node: string;
  readonly cluster: ClusterConfig;
  readonly networkRendering: LocalSettings['networkRendering'];
  readonly reconcilers: Reconcilers;
  readonly domains: Pick<Domains, 'names' | 'problems'>;
}

/** What the status server reads, always as it is at the moment. */
export const reportSources = ({
  edges: { databases, drift, inputs, netlink },
  core,
  ports,
  handler,
  status,
  plugin,
  keeper,
  nodePorts,
  usage,
  peers,
  lost,
  encryption,
  health,
  node,
  cluster,
  networkRendering,
  reconcilers,
  domains,
}: Parts): ReportSources => ({
  node,
  facts: core.facts,
  registry: core.registry,
  ports,
  podFailures: handler.failures,
  shortageOf: (pod) => core.annotator.starved().get(pod),
  statusProblemOf: (pod) => status.unwritten().get(pod),
  reconcilers,
  isHere: (network) =>
    networkRendering === 'always' ||
    network === DEFAULT_NETWORK_NAME ||
    core.facts.get('networkInUse', network) === true,
  ownersOfNetwork: (network) =>
    FEATURES.flatMap(({ name, over }) => {
      if (over === 'network') return `${name}:${network}`;
      return over === 'networkNode' ? `${name}:${node}/${network}` : [];
    }),
  ownersOver: (subject, key) => FEATURES.flatMap(({ name, over }) => (over === subject ? `${name}:${key}` : [])),
  domainState: (name) => domains.names.state(name),
  policyLookup: policyLookupOf({ inputs }, core.feeder),
  components: () => health.components(),
  ...doubtsOf(health),
  diagnostics: core.engine.diagnostics,
  inputProblems: () => [
    ...problemsOfHealth(node, health.components()),
    ...inputs.problems(),
    ...core.feeder.networks.problems,
    ...[...core.feeder.nodes.problems, ...core.feeder.policies.problems()],
    ...[...core.annotator.starved()].map(
      ([pod, message]): Problem => ({ object: `Pod/${pod}`, message, cause: 'addresses-exhausted' }),
    ),
    ...[...status.unwritten()].map(
      ([pod, message]): Problem => ({
        ...{ object: `Pod/${pod}`, severity: 'warning', message, cause: 'network-status-unwritten' },
      }),
    ),
    ...keeper.problems(),
    ...plugin.problems(),
    ...nodePorts.problems(),
    ...[...lost.problems(), ...usage.problems()],
    ...encryption
      .problems()
      .map((message): Problem => ({ object: `Node/${node}`, message, cause: 'tunnels-not-encrypted' })),
    ...peers.problems(),
    ...domains.problems(node),
    ...drift.problems(node),
    ...problemsOfWires(node, core.facts),
    ...problemsOfVersions(node, daemonVersions(databases)),
  ],
  unreachable: () => [...connectedDatabases(databases)()].flatMap(([name, isConnected]) => (isConnected ? [] : [name])),
  cluster,
  desiredFor: (service) =>
    FEATURES.filter(({ over }) => over === 'service').flatMap(
      ({ name }) => databases.northbound.desired.fragment(`${name}:${service}`) ?? [],
    ),
  kept: keptOf({ core, databases, ports, netlink, node }),
  networkOf: networkFinder({
    subjects: SUBJECTS,
    isNetwork: (name) => core.facts.get('network', name) !== undefined,
    networkOfPod: (pod) => {
      const attachments = core.registry.get(pod)?.attachments ?? [];
      return (attachments.find(({ role }) => role === 'primary') ?? attachments[0])?.network.name;
    },
  }),
});

const doubtsOf = (health: Parts['health']): Pick<ReportSources, 'failureToFollow' | 'failureToHear'> => ({
  failureToFollow: () => failureToFollow(health.components()),
  failureToHear: () => failureToHear(health.components()),
});

/** What is kept by other means than rows and items of the node. */
const keptOf = ({
  core,
  databases,
  ports,
  netlink,
  node,
}: Pick<Parts, 'core' | 'ports' | 'node'> & Pick<Parts['edges'], 'databases' | 'netlink'>): ReportSources['kept'] => [
  [
    'openvswitch',
    comparableMapping({
      bridge: () => core.facts.get('gateway', node)?.bridge,
      externalIds: () => {
        const { replica } = databases.openvswitch;
        return replica.synced ? ([...replica.rows('Open_vSwitch')][0]?.external_ids ?? {}) : undefined;
      },
    }),
  ],
  ['host', comparableFilters({ pods: () => core.registry.values(), ports, netlink })],
];

const policyLookupOf = (
  { inputs }: Pick<Parts['edges'], 'inputs'>,
  feeder: Pick<FactFeeder, 'policies'>,
): PolicyLookup => ({
  problems: () => feeder.policies.problems(),
  isRead: () => inputs.isSynced(),
  policies: () => [...inputs.policies.policies.keys(), ...feeder.policies.multi.policies()],
  describe: (policy) => {
    const multi = keyOfMulti(policy);
    return multi === undefined
      ? feeder.policies.index.reader.describePolicy(policy)
      : feeder.policies.multi.describe(multi);
  },
  isolating: (id) => {
    const network = networkOfId(id);
    return network === undefined
      ? feeder.policies.index.reader.isolating(id)
      : feeder.policies.multi.isolating(podOfId(id), network);
  },
  attachments: (pod) => feeder.policies.multi.attachmentsOf(pod),
  pods: () => inputs.policies.pods.entries(),
  pod: (key) => inputs.policies.pods.get(key),
  policiesOfRule: (rule) => [
    ...feeder.policies.index.reader.policiesOfRule(rule),
    ...feeder.policies.multi.policiesOfRule(rule),
  ],
});

const SUBJECTS = new Map(FEATURES.map(({ name, over }) => [name, over]));
