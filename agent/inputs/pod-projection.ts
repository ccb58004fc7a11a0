/** What the agent keeps of a Pod. */
import { z } from 'zod';
import { ignoredRequests, requestsIn } from '../../api/annotations/ignored-requests.ts';
import { attachmentsOf, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import { parseOpenDefaultPorts } from '../../api/annotations/open-default-ports.ts';
import { parsePodBandwidth } from '../../api/annotations/pod-bandwidth.ts';
import { type PodNetworks, parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { parseHostPorts } from '../../api/host-ports.ts';
import { KUBEVIRT, POD_ANNOTATIONS } from '../../api/names.ts';
import { parseWith } from '../../api/parse.ts';
import { machineIdentity } from '../../api/virtual-machine.ts';
import { equalBut } from '../../kube/json-equal.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { PodFact } from '../model/facts.ts';
import { type Problem, readOr } from './problem.ts';

export interface PodProjection {
  readonly fact: PodFact;
  readonly createdAt: string;
  /** Of a virtual machine's pod: a live migration has ended here. */
  readonly isMigrated: boolean;
  /** The annotation that `fact.networks` was read from, for who changes it. */
  readonly annotation: string | undefined;
  /** The annotation that `fact.selected` was read from. */
  readonly selectionAnnotation: string | undefined;
  /** The annotation that `fact.openPorts` was read from. */
  readonly openPortsAnnotation: string | undefined;
  /** Of a pod of this node: the annotation that says what it is attached to, for who writes it. */
  readonly networkStatus: string | undefined;
  /** Of the version that was projected. Not compared: it changes with every heartbeat of the pod's status. */
  readonly resourceVersion: string;
  readonly problems: readonly Problem[];
}

/**
 * Pods of this node, and of other nodes those that have a port on a switch that spans the nodes, and virtual machines on localnets,
 * which may move here: undefined for all others, which no fragment is about.
 * @param before of the same pod: what has not changed is not parsed again
 * @param read the entries of its annotation, for who needs them, too
 */
export const projectPod = (
  object: KubeObject,
  localNode: string,
  before?: PodProjection,
  read?: () => PodNetworks,
): PodProjection | undefined => {
  const { metadata } = object;
  const body = parseWith(bodySchema, object, 'Pod');
  const { nodeName, hostNetwork = false } = body.spec;
  const annotation = metadata.annotations?.[POD_ANNOTATIONS.networks];
  if (nodeName !== localNode && (hostNetwork || annotation === undefined)) return undefined;
  const key = `${metadata.namespace}/${metadata.name}`;
  const problems: Problem[] = [];
  const networks = networksOf(annotation, key, problems, before, read);
  const machine = machineOf(metadata.labels);
  const mayMove = machine.machine !== undefined && hasSecondary(networks);
  if (nodeName !== localNode && !spansNodes(networks) && !mayMove) return undefined;
  const [unreadable] = problems;
  const openPortsAnnotation =
    nodeName === localNode ? metadata.annotations?.[POD_ANNOTATIONS.openDefaultPorts] : undefined;
  return {
    fact: {
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      uid: metadata.uid,
      runtimeUid: staticPodUid(metadata.annotations) ?? metadata.uid,
      node: nodeName,
      hostNetwork,
      finished: body.status?.phase === 'Succeeded' || body.status?.phase === 'Failed',
      ...(nodeName === localNode && metadata.deletionTimestamp != null && { leaving: true }),
      ...selectedOf(metadata.annotations?.[POD_ANNOTATIONS.selection], key, before),
      ...(nodeName === localNode && bandwidthOf(metadata.annotations, key)),
      ...(nodeName === localNode && ignoredOf(metadata.annotations, key)),
      ...machine,
      ...(nodeName === localNode && hostPortsOf(object)),
      networks: networks ?? NO_NETWORKS,
      ...(unreadable !== undefined && { unreadable: unreadable.message }),
      ...openPortsOf(openPortsAnnotation, key, problems, before),
    },
    createdAt: metadata.creationTimestamp ?? '',
    isMigrated: (metadata.annotations?.[KUBEVIRT.targetReady] ?? '') !== '',
    annotation,
    selectionAnnotation: metadata.annotations?.[POD_ANNOTATIONS.selection],
    openPortsAnnotation,
    networkStatus: nodeName === localNode ? metadata.annotations?.[POD_ANNOTATIONS.networkStatus] : undefined,
    resourceVersion: metadata.resourceVersion,
    problems,
  };
};

const networksOf = (
  annotation: string | undefined,
  key: string,
  problems: Problem[],
  before: PodProjection | undefined,
  read = () => parsePodNetworks(annotation ?? '', key),
): PodNetworks | undefined => {
  if (annotation === undefined) return undefined;
  if (before?.annotation === annotation && before.fact.unreadable === undefined) return before.fact.networks;
  return readOr(`Pod/${key}`, problems, read);
};

export const samePod = equalBut<PodProjection>('resourceVersion');

/** What cannot be read is the cluster manager's to report, which reads it for addresses; ADD refuses the pod. */
const selectedOf = (
  annotation: string | undefined,
  key: string,
  before: PodProjection | undefined,
): Pick<PodFact, 'selected' | 'unreadableSelection'> => {
  if (annotation === undefined) return {};
  const known = before?.selectionAnnotation === annotation ? before.fact.selected : undefined;
  if (known !== undefined) return { selected: known };
  const problems: Problem[] = [];
  const selections = readOr(`Pod/${key}`, problems, () => parseNetworkSelections(annotation, key)) ?? [];
  const [unreadable] = problems;
  if (unreadable !== undefined) return { unreadableSelection: unreadable.message };
  return selections.length === 0 ? {} : { selected: attachmentsOf(selections) };
};

/** Who makes a pod may say so of any. The name is text in flows of OVN: one that no label can have is none (API server). */
const machineOf = (labels: KubeObject['metadata']['labels']): Pick<PodFact, 'machine' | 'machineId'> => {
  const machine = labels?.[KUBEVIRT.hostName];
  if (machine === undefined || !/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(machine)) return {};
  return { machine, machineId: machineIdentity(labels) };
};

const ignoredOf = (annotations: KubeObject['metadata']['annotations'], key: string): Pick<PodFact, 'ignored'> => {
  const ignored = ignoredRequests(requestsIn(annotations), key);
  return ignored.length === 0 ? {} : { ignored };
};

/** ADD refuses a pod whose limits cannot be read. */
const bandwidthOf = (
  annotations: KubeObject['metadata']['annotations'],
  key: string,
): Pick<PodFact, 'bandwidth' | 'unreadableBandwidth'> => {
  const problems: Problem[] = [];
  const bandwidth = readOr(`Pod/${key}`, problems, () => parsePodBandwidth(annotations ?? {}, key));
  const [unreadable] = problems;
  if (unreadable !== undefined) return { unreadableBandwidth: unreadable.message };
  return bandwidth === undefined ? {} : { bandwidth };
};

const hostPortsOf = ({ spec }: KubeObject): Pick<PodFact, 'hostPorts' | 'refusedHostPorts'> => {
  const { ports, refusals } = parseHostPorts(spec);
  return {
    ...(ports.length > 0 && { hostPorts: ports }),
    ...(refusals.length > 0 && { refusedHostPorts: refusals }),
  };
};

/** A list with anything wrong in it opens nothing. */
const openPortsOf = (
  annotation: string | undefined,
  key: string,
  problems: Problem[],
  before: PodProjection | undefined,
): Pick<PodFact, 'openPorts' | 'unreadableOpenPorts'> => {
  if (annotation === undefined) return {};
  if (before?.openPortsAnnotation === annotation) {
    const { openPorts = [], unreadableOpenPorts } = before.fact;
    problems.push(...before.problems.filter(({ message }) => message === unreadableOpenPorts));
    return { openPorts, ...(unreadableOpenPorts !== undefined && { unreadableOpenPorts }) };
  }
  const found: Problem[] = [];
  const openPorts = readOr(`Pod/${key}`, found, () => parseOpenDefaultPorts(annotation, key)) ?? [];
  problems.push(...found);
  return { openPorts, ...(found[0] !== undefined && { unreadableOpenPorts: found[0].message }) };
};

/**
 * On the mirror of a static pod: the UID that the kubelet gave the pod itself. Who makes a pod writes annotations as he likes, and a pod with
 * another's UID would count as what runs in that one's cgroup: no UID of the API has this form (pkg/kubelet/config/common.go of Kubernetes).
 */
const staticPodUid = (annotations: Readonly<Record<string, string>> = {}): string | undefined => {
  const uid = annotations[STATIC_POD_UID];
  return annotations[MIRROR_OF] !== undefined && uid !== undefined && /^[0-9a-f]{32}$/.test(uid) ? uid : undefined;
};
const STATIC_POD_UID = 'kubernetes.io/config.hash';
const MIRROR_OF = 'kubernetes.io/config.mirror';

const NO_NETWORKS: PodNetworks = new Map();

/** Only ports of layer-2 networks have a key that the cluster manager gave. */
const spansNodes = (networks: PodNetworks | undefined): boolean =>
  networks?.values().some(({ tunnelId }) => tunnelId !== undefined) ?? false;

/** Which topology it is, the entry does not say. */
const hasSecondary = (networks: PodNetworks | undefined): boolean =>
  networks?.values().some(({ role }) => role === 'secondary') ?? false;

const bodySchema = z.object({
  spec: z.object({ nodeName: z.string().min(1).optional(), hostNetwork: z.boolean().optional() }),
  status: z.object({ phase: z.string().optional() }).optional(),
});
