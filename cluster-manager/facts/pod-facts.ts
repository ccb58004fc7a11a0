/** What the cluster manager keeps of a Pod. */
import { KUBEVIRT, POD_ANNOTATIONS } from '../../api/names.ts';
import { readJson } from '../../api/parse.ts';
import { machineIdentity } from '../../api/virtual-machine.ts';
import { isRecord } from '../../kube/is-record.ts';
import { equalBut } from '../../kube/json-equal.ts';
import { annotationRoom } from './annotation-room.ts';
import { attachedKeys, selectedKeys, withoutAttachment } from './attached-keys.ts';
import { parsePod } from './pod-object.ts';

export interface PodFacts {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  /** On a node, on the pod network, and not completed: it needs its addresses. */
  readonly isActive: boolean;
  /** The node where it is active; empty: it is not. */
  readonly activeOn: string;
  /** On its node's network: where, and which of the node's addresses it has, by its status. */
  readonly host: HostNetworkPod | undefined;
  /** The virtual machine of its namespace that runs in it (`machineIdentity`). */
  readonly machine: string | undefined;
  /** Its machine takes the pod's addresses along when it moves to another pod. */
  readonly sharesWithMachine: boolean;
  /** Of the version with the latest change that matters; later ones may exist. */
  readonly resourceVersion: string;
  readonly annotations: {
    readonly networks: string | undefined;
    readonly selection: string | undefined;
    readonly defaultNetwork: string | undefined;
    readonly primaryClaim: string | undefined;
    readonly requestedPrimary: string | undefined;
  };
  /** The keys of `annotations.networks`, each of an attachment; undefined when it can't be read. */
  readonly annotatedKeys: readonly string[] | undefined;
  /** Of these, the ones that count. */
  readonly attachedKeys: readonly string[] | undefined;
  /** What `annotations.selection` asks for; undefined when it can't be read. */
  readonly selectedKeys: readonly string[] | undefined;
  /** Bytes that its annotations can grow by; undefined: ample. */
  readonly annotationRoom: number | undefined;
}

export interface HostNetworkPod {
  readonly node: string;
  /** With spaces between. */
  readonly ips: string;
}

export const podFacts = (object: unknown): PodFacts => {
  const { metadata, spec, status } = parsePod(object);
  const { annotations, labels } = metadata;
  const machine = machineIdentity(labels);
  const isCompleted = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const key = `${metadata.namespace}/${metadata.name}`;
  const isActive = (spec?.nodeName ?? '') !== '' && spec?.hostNetwork !== true && !isCompleted;
  const annotated = keysOf(annotations[POD_ANNOTATIONS.networks]);
  const selected = selectedKeys(annotations[POD_ANNOTATIONS.selection], key);
  return {
    key,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    creationTimestamp: metadata.creationTimestamp ?? '',
    host: spec?.hostNetwork === true ? hostNetworkPod(spec.nodeName ?? '', status?.podIPs) : undefined,
    isActive,
    activeOn: isActive ? shared(spec?.nodeName ?? '') : '',
    machine,
    sharesWithMachine: machine !== undefined && annotations[KUBEVIRT.migratesWithAddress] !== undefined,
    resourceVersion: metadata.resourceVersion ?? '',
    annotations: {
      networks: annotations[POD_ANNOTATIONS.networks],
      selection: annotations[POD_ANNOTATIONS.selection],
      defaultNetwork: annotations[POD_ANNOTATIONS.defaultNetwork],
      primaryClaim: annotations[POD_ANNOTATIONS.primaryClaim],
      requestedPrimary: annotations[POD_ANNOTATIONS.requestedPrimary],
    },
    annotatedKeys: annotated,
    attachedKeys: attachedKeys(metadata.namespace, annotated, selected),
    selectedKeys: selected,
    annotationRoom: annotationRoom(annotations),
  };
};

/** One text for all pods of a node: each object has one of its own. */
const shared = (name: string): string => {
  const known = names.get(name);
  if (known !== undefined) return known;
  // Nodes come and go: what it holds is bounded.
  if (names.size >= MAX_NAMES) names.clear();
  names.set(name, name);
  return name;
};

const names = new Map<string, string>();
const MAX_NAMES = 10_000;

/** Whether two versions of a pod are the same to us: most updates are of its status. */
export const samePod = equalBut<PodFacts>('resourceVersion');

const hostNetworkPod = (node: string, podIPs: unknown): HostNetworkPod => {
  const entries: readonly unknown[] = Array.isArray(podIPs) ? podIPs : [];
  const ips = entries.flatMap((one) => (isRecord(one) && typeof one['ip'] === 'string' ? [one['ip']] : []));
  return { node, ips: ips.join(' ') };
};

/** Read once: everybody asks, at every change. */
const keysOf = (networks: string | undefined): readonly string[] | undefined => {
  if (networks === undefined || networks === '') return [];
  try {
    const map = readJson(networks);
    return typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.keys(map) : undefined;
  } catch {
    // The pod's owner gets an event where the annotation is written.
    return undefined;
  }
};

/**
 * The NADs that an active pod uses, each once. When its annotation can't be read it may use any of its namespace, which is `ns/*`, and those
 * that it selects.
 */
export const usedNads = (pod: PodFacts): readonly string[] => {
  if (!pod.isActive) return [];
  return [...new Set(pod.attachedKeys?.map(withoutAttachment) ?? [`${pod.namespace}/*`, ...selectedNads(pod)])];
};

/** What can't be read selects nothing. */
export const selectedNads = ({ selectedKeys: keys = [] }: PodFacts): readonly string[] => keys.map(withoutAttachment);
