/** What network policies need of a Pod. There are many: equal labels and ports are one object, and so are texts that many pods have. */
import { z } from 'zod';
import { attachmentsOf, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import type { PodNetworks } from '../../api/annotations/pod-networks.ts';
import type { Labels } from '../../api/label-selector.ts';
import { parseNadKey } from '../../api/names.ts';
import { parseWith } from '../../api/parse.ts';
import { list, map, name, optional, text, usual, yesOrNo } from '../../api/usual.ts';
import { ownText } from '../../base/own-text.ts';
import { SingleMap } from '../../base/single-map.ts';
import { TextPool } from '../../base/text-pool.ts';
import { WeakPool } from '../../base/weak-pool.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressOf, cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { PolicyProtocol } from '../model/policies/facts.ts';
import { NO_ADDRESSES, type PeerAddresses } from './compact-pod.ts';
import type { NamedPort, PolicyPod } from './policies/types.ts';
import { readOr } from './problem.ts';

/** @throws ApiError */
export const projectPolicyPod = (object: KubeObject, localNode: string): Omit<PolicyPod, 'addresses'> => {
  const { namespace = '', labels } = object.metadata;
  const { spec, status } = usualPodBody(object) ?? parseWith(podBodySchema, object, 'Pod');
  return {
    namespace: TEXTS.one(namespace),
    labels: internedLabels(labels),
    isLocal: spec.nodeName === localNode && spec.hostNetwork !== true,
    ...(spec.hostNetwork === true && { isHost: true as const }),
    node: spec.nodeName === undefined ? undefined : TEXTS.one(spec.nodeName),
    finished: status?.phase === 'Succeeded' || status?.phase === 'Failed',
    ports: internedPorts(portsOf(spec)),
  };
};

/**
 * What cannot be read gives none: the pod's own node reports it. Neither does an interface with two addresses of a family, which nobody gives:
 * whoever makes a pod writes what he likes here, and would have a tenant's rules let in addresses of others.
 * @param from the entries, or what reads them @param pod `namespace/name`
 */
export const peerAddresses = (from: PodNetworks | (() => PodNetworks) | undefined, pod: string): PeerAddresses => {
  const networks = typeof from === 'function' ? readOr(`Pod/${pod}`, [], from) : from;
  // Nobody is reached at a locked interface, whatever policies say.
  const open = [...(networks ?? [])].filter(
    ([, { role, ipAddresses }]) => role !== 'infrastructure-locked' && isOnePerFamily(ipAddresses),
  );
  if (open.length === 0) return NO_ADDRESSES;
  const entries = open.map(([nadKey, { ipAddresses }]) => [TEXTS.one(nadKey), ipAddresses.map(ownAddress)] as const);
  const [only] = entries;
  return only !== undefined && entries.length === 1 ? new SingleMap(...only) : new Map(entries);
};

/**
 * Without those on networks of other namespaces' NADs that the pod does not select, as for its ports: whoever makes a pod writes entries as he
 * likes. A pod keeps those of its own namespace when the selection is edited.
 * @param pod `namespace/name` @param selection the annotation
 */
export const selectedAddresses = (
  addresses: PeerAddresses,
  pod: string,
  selection: string | undefined,
): PeerAddresses => {
  const own = pod.split('/', 1)[0];
  const isOther = (key: string): boolean => (parseNadKey(key)?.namespace ?? own) !== own;
  if (![...addresses.keys()].some(isOther)) return addresses;
  const selections = readOr(`Pod/${pod}`, [], () => parseNetworkSelections(selection ?? '', pod)) ?? [];
  const selected = new Set(attachmentsOf(selections).map(({ nadKey }) => nadKey));
  return new Map([...addresses].filter(([key]) => !isOther(key) || selected.has(key)));
};

const isOnePerFamily = (addresses: readonly InterfaceAddress[]): boolean =>
  new Set(addresses.map(cidrFamily)).size === addresses.length;

const ownAddress = (address: InterfaceAddress): Ip => ownText(addressOf(address)) as Ip;

const TEXTS = new TextPool(16_384);
const LABELS = new WeakPool<Labels>(jsonEqual);
const PORTS = new WeakPool<readonly NamedPort[]>(jsonEqual);

const internedLabels = (labels: Labels | undefined): Labels => {
  const pairs = Object.entries(labels ?? {});
  if (pairs.length === 0) return NO_LABELS;
  const own = Object.fromEntries(pairs.map(([key, value]) => [TEXTS.one(key), TEXTS.one(String(value))]));
  return LABELS.one(own, JSON.stringify(own));
};

const NO_LABELS: Labels = {};

const internedPorts = (ports: readonly NamedPort[]): readonly NamedPort[] =>
  ports.length === 0 ? NO_PORTS : PORTS.one(ports, JSON.stringify(ports));

const NO_PORTS: readonly NamedPort[] = [];

/** Those of containers that run as long as the pod does. More than so many names one pod has not. */
const portsOf = ({ containers, initContainers }: PodBody['spec']): NamedPort[] => {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...containers, ...sidecars]
    .flatMap(({ ports }) => ports)
    .flatMap((port) => portSchema.safeParse(port).data ?? [])
    .slice(0, MAX_NAMED_PORTS)
    .map(({ name, protocol, containerPort }) => ({
      name: TEXTS.one(name),
      protocol: protocol.toLowerCase() as PolicyProtocol,
      port: containerPort,
    }));
};

const MAX_NAMED_PORTS = 256;

const portSchema = z.object({
  name: z.string().min(1),
  protocol: z.enum(['TCP', 'UDP', 'SCTP']).default('TCP'),
  containerPort: z.int().min(1).max(65_535),
});

/** A port that cannot be read has no name that a policy could mean. */
const containersSchema = z
  .array(
    z
      .object({ ports: z.array(z.unknown()).catch([]), restartPolicy: z.unknown().optional() })
      .catch({ ports: [], restartPolicy: undefined }),
  )
  .catch([]);

/** Exported for tests: `usualPodBody` reads the same. */
export const podBodySchema = z.object({
  spec: z.object({
    nodeName: z.string().min(1).optional(),
    hostNetwork: z.boolean().optional(),
    containers: containersSchema,
    initContainers: containersSchema,
  }),
  status: z.object({ phase: z.string().optional() }).optional(),
});

type PodBody = z.output<typeof podBodySchema>;

/** Of nearly all pods of a cluster, of which the schema would be most of the time. */
export const usualPodBody = usual((value): PodBody => {
  const { spec, status } = map(value);
  const { nodeName, hostNetwork, containers, initContainers } = map(spec);
  return {
    spec: {
      nodeName: optional(nodeName, name),
      hostNetwork: optional(hostNetwork, yesOrNo),
      containers: list(containers).map(container),
      initContainers: list(initContainers).map(container),
    },
    status: optional(status, (one) => ({ phase: optional(map(one)['phase'], text) })),
  };
});

const container = (value: unknown): PodBody['spec']['containers'][number] => {
  const { ports, restartPolicy } = map(value);
  return { ports: [...list(ports)], restartPolicy };
};
