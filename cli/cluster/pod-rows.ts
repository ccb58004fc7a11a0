/** The pods of a cluster with all their addresses, as their annotations say. Pure. */
import { ApiError } from '../../api/errors.ts';
import type { Scene } from '../why/allocations.ts';
import { desiredAttachments } from '../why/attachments.ts';
import type { Cause } from '../why/finding.ts';
import { podFindings } from '../why/pod.ts';
import { podEntries } from '../why/pod-entries.ts';
import type { PodState } from './pod-state.ts';

export interface PodAttachmentItem {
  readonly network: string;
  /** Key in the pod's annotation. */
  readonly nad: string;
  readonly interface: string;
  /** As the annotation says: the default network is `infrastructure-locked` where there is another primary one. */
  readonly role: string;
  readonly addresses: readonly string[];
  readonly mac?: string;
  readonly gateways: readonly string[];
}

export interface PodItem {
  readonly namespace: string;
  readonly name: string;
  readonly node?: string;
  readonly attachments: readonly PodAttachmentItem[];
  /** Of its networks: whether it has all its addresses. */
  readonly state: 'ready' | 'waiting' | 'completed' | 'host network';
  readonly cause?: Cause;
  readonly message?: string;
  readonly created: string;
}

export interface PodFilter {
  /** Of the network, by its name or the key of a NAD. */
  readonly network?: string | undefined;
  readonly node?: string | undefined;
}

/** Sorted by namespace and name. */
export const podItems = (scene: Scene, { network, node }: PodFilter = {}): readonly PodItem[] =>
  [...scene.pods.values()]
    .filter((pod) => node === undefined || pod.node === node)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map((pod) => itemOf(pod, scene))
    .filter(
      ({ attachments }) =>
        network === undefined || attachments.some((one) => one.network === network || one.nad === network),
    );

const itemOf = (pod: PodState, scene: Scene): PodItem => ({
  namespace: pod.namespace,
  name: pod.name,
  ...(pod.node !== undefined && { node: pod.node }),
  attachments: attachmentsOf(pod, scene),
  ...stateOf(pod, scene),
  created: pod.creationTimestamp,
});

const attachmentsOf = (pod: PodState, scene: Scene): readonly PodAttachmentItem[] => {
  if (pod.isHostNetwork) return [];
  const desired = desiredAttachments(pod, scene).attachments;
  const read = podEntries(pod);
  const entries = read instanceof ApiError ? new Map() : read;
  const extra = [...entries.keys()].filter((key) => !desired.some(({ nadKey }) => nadKey === key));
  const all = [...desired, ...extra.map((nadKey) => ({ nadKey, network: nadKey, interface: '', role: '' }))];
  return all.map((attachment): PodAttachmentItem => {
    const { nadKey, network, role } = attachment;
    const entry = entries.get(nadKey);
    const common = { network, nad: nadKey, interface: attachment.interface };
    if (entry === undefined || entry instanceof ApiError) return { ...common, role, addresses: [], gateways: [] };
    const { ipAddresses, mac, gatewayIps } = entry;
    return { ...common, role: entry.role ?? role, addresses: ipAddresses, mac, gateways: gatewayIps };
  });
};

const stateOf = (pod: PodState, scene: Scene): Pick<PodItem, 'state' | 'cause' | 'message'> => {
  if (pod.isHostNetwork) return { state: 'host network' };
  if (pod.isCompleted) return { state: 'completed' };
  const first = podFindings(pod, scene).find(({ state }) => state === 'blocked');
  if (first === undefined) return { state: 'ready' };
  return { state: 'waiting', message: first.found, ...(first.cause !== undefined && { cause: first.cause }) };
};
