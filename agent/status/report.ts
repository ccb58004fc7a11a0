/** Puts together what the agent knows, for people. */
import type {
  ComponentStatus,
  NetworkStatus,
  NodeStatus,
  PodAttachmentStatus,
  PodStatus,
} from '../../api/agent-status.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { networkMasqueradeAddresses } from '../../api/masquerade.ts';
import { type Status, worst } from '../../base/reconciler.ts';
import type { AttachmentRegistry } from '../cni/attachments/registry.ts';
import type { OvsPorts, PluggedPort } from '../cni/ovs-ports.ts';
import { type PodFailure, podFailureText } from '../cni/pod-failures.ts';
import type { TimedHealth } from '../health/component.ts';
import type { Attachment, PodAttachments } from '../model/attachments.ts';
import { type NetworkFact, nodeSubnetsId } from '../model/facts.ts';
import { podPortName } from '../model/names.ts';
import { statusOf } from '../reconcile/reconcilers.ts';
import type { DifferenceSources } from './differences.ts';
import { networkState } from './network-state.ts';
import type { PolicyReportSources } from './policies/sources.ts';
import type { ProblemSources } from './problems.ts';
import { stateOf } from './programming-state.ts';
import type { ServiceSources } from './service-report.ts';

export interface ReportSources extends ServiceSources, DifferenceSources, ProblemSources, PolicyReportSources {
  readonly registry: AttachmentRegistry;
  readonly ports: Pick<OvsPorts, 'all'>;
  /** Why this node cannot give a pod an address now. @param pod `namespace/name` */
  readonly shortageOf: (pod: string) => string | undefined;
  /** Why the network-status of a pod could not be written. @param pod `namespace/name` */
  readonly statusProblemOf: (pod: string) => string | undefined;
  /** Who wants what a network has on this node. */
  readonly ownersOfNetwork: (network: string) => readonly string[];
  readonly components: () => readonly TimedHealth[];
}

export const reportNode = ({ node, facts }: ReportSources): NodeStatus => {
  const gateway = facts.get('gateway', node);
  if (gateway === undefined) return { name: node };
  const { mode, bridge, uplink, mac, addresses, nextHops } = gateway;
  return {
    name: node,
    gateway: {
      mode,
      bridge,
      ...(uplink !== undefined && { uplink }),
      mac,
      addresses: [...addresses],
      nextHops: [...nextHops],
    },
  };
};

export const reportNetworks = (sources: ReportSources): NetworkStatus[] => {
  const counts = new Map<string, number>();
  // A pod that waits or is refused runs with what it has been given.
  for (const { attachments, held } of sources.registry.values()) {
    for (const name of new Set([...attachments, ...held].map(({ network }) => network.name))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const { facts } = sources;
  const nads = Map.groupBy(facts.ids('nad'), (nad) => facts.get('nad', nad) ?? '');
  return [...facts.ids('network')]
    .flatMap((name) => facts.get('network', name) ?? [])
    .sort((a, b) => a.id - b.id)
    .map((network) => ({
      ...networkStatus(network, sources),
      nads: (nads.get(network.name) ?? []).toSorted(),
      pods: counts.get(network.name) ?? 0,
    }));
};

/** What the node's networks need beside the agent, and how it stands. */
export const reportHealth = ({ components }: ReportSources): ComponentStatus[] =>
  components().map(({ component, state, message, since }) => ({
    component,
    state,
    since: new Date(since).toISOString(),
    ...(message !== '' && { message }),
  }));

export const reportPods = (sources: ReportSources): PodStatus[] => {
  const plugged = new Map(sources.ports.all().map((port) => [`${port.logicalPort} ${port.podUid}`, port]));
  return [...sources.registry.values()]
    .map((attachments) => podStatus(attachments, plugged, sources))
    .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
};

const networkStatus = (network: NetworkFact, sources: ReportSources): Omit<NetworkStatus, 'nads' | 'pods'> => {
  const { name } = network;
  const { node, facts, cluster } = sources;
  return {
    name,
    id: network.id,
    topology: network.topology,
    role: network.role,
    mtu: network.mtu,
    subnets: network.subnets.map(({ cidr, hostPrefix }) => (hostPrefix === undefined ? cidr : `${cidr}/${hostPrefix}`)),
    nodeSubnets: [...(facts.get('nodeSubnets', nodeSubnetsId(node, name)) ?? [])],
    ...masqueradeStatus(network, cluster),
    ...stateOf(
      worst([
        networkState(network, { ...sources, ownerState: (owner) => statusOf(sources.reconcilers, owner) }),
        ...(sources.isHere(name) ? [] : [UNUSED]),
      ]),
    ),
  };
};

const masqueradeStatus = (
  { id, role }: NetworkFact,
  cluster: Pick<ClusterConfig, 'masqueradeSubnets'>,
): Pick<NetworkStatus, 'masquerade'> => {
  const gateway = networkMasqueradeAddresses(cluster, id, 'gateway');
  const management = networkMasqueradeAddresses(cluster, id, 'management');
  if (role !== 'primary' || gateway === undefined || management === undefined) return {};
  return { masquerade: { gateway: [...gateway], management: [...management] } };
};

/** Nothing is missing: it comes with its first pod. */
const UNUSED: Status = { kind: 'done', message: 'not on this node, unused here' };

const POD_FEATURES = ['pods', 'isolation-pods', 'host-isolation-pod', 'host-ports'];

const podStatus = (
  { pod, attachments, waitingFor, refused, ignored }: PodAttachments,
  plugged: ReadonlyMap<string, PluggedPort>,
  { reconcilers, podFailures, shortageOf, statusProblemOf }: ReportSources,
): PodStatus => {
  const key = `${pod.namespace}/${pod.name}`;
  const { state, message } = stateOf(worst(POD_FEATURES.map((feature) => statusOf(reconcilers, `${feature}:${key}`))));
  const statuses = attachments.map((attachment) => attachmentStatus(pod, attachment, plugged));
  const why = waitingFor ?? message ?? lacking(statuses, podFailures.of(pod), shortageOf(key)) ?? refused;
  const unreported = statusProblemOf(key);
  return {
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    attachments: statuses,
    state: state === 'ready' && why !== undefined ? 'pending' : state,
    ...(why !== undefined && { message: why }),
    ...(ignored !== undefined && { ignored: [...ignored] }),
    ...(unreported !== undefined && { unreported }),
  };
};

const attachmentStatus = (
  pod: PodAttachments['pod'],
  { nadKey, network, role, interfaceName }: Attachment,
  plugged: ReadonlyMap<string, PluggedPort>,
): PodAttachmentStatus => {
  const entry = pod.networks.get(nadKey);
  const port = podPortName(nadKey, pod.namespace, pod.name);
  const ovsPort = plugged.get(`${port} ${pod.uid}`);
  const standbyFor = pod.standby?.get(nadKey);
  return {
    network: network.name,
    nad: nadKey,
    role,
    interface: interfaceName,
    addresses: [...(entry?.ipAddresses ?? [])],
    ...(entry !== undefined && { mac: entry.mac }),
    port,
    ...(ovsPort !== undefined && { hostInterface: ovsPort.name, sandbox: ovsPort.sandbox }),
    installed: ovsPort?.isInstalled ?? false,
    ...(standbyFor !== undefined && { standbyFor }),
  };
};

const lacking = (
  attachments: readonly PodAttachmentStatus[],
  failure: PodFailure | undefined,
  shortage: string | undefined,
): string | undefined => {
  // Without IPAM an attachment has a MAC and no addresses.
  const [unaddressed] = attachments.filter(({ mac }) => mac === undefined);
  if (unaddressed !== undefined) return shortage ?? `it has no address on network ${unaddressed.network} yet`;
  const [unplugged] = attachments.filter(({ hostInterface }) => hostInterface === undefined);
  if (unplugged !== undefined && failure !== undefined) return `it has no port: ${podFailureText(failure)}`;
  if (unplugged !== undefined)
    return 'it has no port: the container runtime has not called CNI ADD yet, or its interfaces were removed';
  const [uninstalled] = attachments.filter(({ installed }) => !installed);
  return uninstalled === undefined ? undefined : `ovn-controller has not installed port ${uninstalled.port} yet`;
};
