/**
 * The desired state of a node, from plain objects instead of an API server. Addresses that this node's agent would allocate
 * are allocated, in the order in which the pods were created, and reported. Pure.
 */
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from '../../api/allowed-services.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { podNetworkEntry } from '../../api/pod-network-entry.ts';
import { messageOf } from '../../base/error-message.ts';
import type { IndexFunctions } from '../../kube/reflector/indexes.ts';
import { partOf } from '../../kube/reflector/part-of.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { AddressBook } from '../cni/attachments/address-book.ts';
import { NetworkUsage } from '../cni/attachments/network-usage.ts';
import { createEngine } from '../desired/engine.ts';
import { FEATURES } from '../features/index.ts';
import { RANKED_POLICIES } from '../inputs/admin-inputs.ts';
import { withAddresses } from '../inputs/compact-pod.ts';
import { type ClusterCaches, feedFacts } from '../inputs/fact-feeder.ts';
import { projectNad } from '../inputs/nad-projection.ts';
import { projectNamespaceParts } from '../inputs/namespace-parts.ts';
import { projectNode } from '../inputs/node-projection.ts';
import { projectPodParts } from '../inputs/pod-parts.ts';
import { projectAdminPolicy } from '../inputs/policies/admin/admin-projection.ts';
import { projectMultiPolicy } from '../inputs/policies/multi-projection.ts';
import { projectPolicy } from '../inputs/policies/policy-projection.ts';
import { policyCaches } from '../inputs/policy-caches.ts';
import { peerAddresses } from '../inputs/policy-pod.ts';
import type { Problem } from '../inputs/problem.ts';
import { projectService } from '../inputs/service-projection.ts';
import { projectSlice, SLICE_INDEXES } from '../inputs/slice-projection.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { FactStore } from '../model/fact-store.ts';
import { type GatewayFact, podKey } from '../model/facts.ts';
import type { Diagnostic } from '../model/fragment.ts';
import type { LocalSettings } from '../model/view.ts';
import { type RenderDocument, renderDocument } from './document.ts';
import { MemorySinks } from './memory-sinks.ts';
import { completeNodeFacts } from './node-facts.ts';

export interface RenderInput {
  /** Nodes, namespaces, NADs, pods, Services, EndpointSlices and policies, with what the cluster manager writes; other kinds are passed over. */
  readonly objects: readonly KubeObject[];
  readonly node: string;
  readonly cluster: ClusterConfig;
  /** Instead of what the nodes' annotations say. */
  readonly gatewayMode?: GatewayFact['mode'] | undefined;
  /** Of the node, below the root of cgroup v2. */
  readonly kubeletCgroup?: string | undefined;
  /** Of physical networks of the node: `dc:br-dc,lan:br-lan`. Default: the gateway bridge for `physnet`. */
  readonly bridgeMappings?: string | undefined;
  /** On demand only networks that pods in the input use are rendered. Default: always. */
  readonly networkRendering?: LocalSettings['networkRendering'] | undefined;
  /** Default: those of an agent without options. */
  readonly allowedDefaultServices?: readonly string[] | undefined;
  /** The node's own limit follows from its kernel. Default: none. */
  readonly connectionLimit?: number | undefined;
  /** Default: tunnels are not encrypted. */
  readonly encryption?: LocalSettings['encryption'];
}

export const renderNode = (input: RenderInput): RenderDocument => {
  const { objects, node, cluster } = input;
  const problems: Problem[] = [];
  const caches = readCaches(objects, node, problems);
  const local = caches.nodes.get(node);
  const settings: LocalSettings = {
    node,
    cluster,
    encapIps: local?.fact.encapIps.length ? local.fact.encapIps : (local?.internalIps ?? []),
    southboundRemote: 'unix:/run/ovn/ovnsb_db.sock',
    networkRendering: input.networkRendering ?? 'always',
    allowedDefaultServices: input.allowedDefaultServices ?? parseAllowedServices(DEFAULT_ALLOWED_SERVICES),
    connectionLimit: input.connectionLimit,
    encryption: input.encryption,
  };
  const facts = new FactStore();
  const sinks = new MemorySinks();
  const engine = createEngine({
    features: FEATURES,
    facts,
    settings,
    sinks: { ...sinks, usage: new NetworkUsage({ facts, clock: NOTHING_GOES, graceMs: 0 }) },
    schedule: () => undefined,
  });
  const feeder = feedFacts(facts, caches, settings);
  const assumed = completeNodeFacts(facts, input);
  engine.start();
  engine.flush();
  const given = giveAddresses(objects, [...sinks.attachments.values()], facts, cluster);
  for (const { pod: attached } of sinks.attachments.values()) {
    const key = podKey(attached);
    const [fact, pod] = [facts.get('pod', key), caches.policies?.pods.get(key)];
    if (fact !== undefined && pod !== undefined)
      feeder.policies.changePod(key, withAddresses(pod, peerAddresses(fact.networks, key)));
  }
  engine.flush();
  const document = renderDocument(sinks, engine.diagnostics);
  const found = [...problems, ...feeder.networks.problems, ...feeder.nodes.problems, ...feeder.policies.problems()].map(
    (problem): Diagnostic => ({ ...problem, severity: problem.severity ?? 'error' }),
  );
  return { ...document, diagnostics: [...found, ...assumed, ...given, ...document.diagnostics] };
};

/** While a node is rendered once. */
const NOTHING_GOES = { schedule: () => () => undefined };

const readCaches = (objects: readonly KubeObject[], node: string, problems: Problem[]): ClusterCaches => {
  const read = <T extends object, I extends string = never>(
    kind: string,
    project: (object: KubeObject) => T | undefined,
    indexes?: IndexFunctions<T, I>,
  ) =>
    createStaticCache<T, I>(
      objects
        .filter((object) => object.kind === kind)
        .flatMap((object): [string, T][] => {
          const key = keyOf(object);
          try {
            const projection = project(object);
            return projection === undefined ? [] : [[key, projection]];
          } catch (error) {
            problems.push({
              object: `${kind}/${key}`,
              message: messageOf(error),
            });
            return [];
          }
        }),
      indexes,
    );
  const nodes = read('Node', (object) => projectNode(object));
  const namespaces = read('Namespace', (object) => projectNamespaceParts(object));
  const pods = read('Pod', (object) => projectPodParts(object, node));
  const admin = Object.fromEntries(
    RANKED_POLICIES.map(({ kind }) => [kind, read(kind, (object) => projectAdminPolicy(kind, object))]),
  );
  const caches = {
    nodes,
    namespaces: partOf(namespaces, ({ fact }) => fact),
    nads: read('NetworkAttachmentDefinition', projectNad),
    pods: partOf(pods, ({ pod }) => pod),
    services: read('Service', projectService),
    slices: read('EndpointSlice', projectSlice, SLICE_INDEXES),
    policies: policyCaches(read('NetworkPolicy', projectPolicy), admin, {
      ...{ nodes, namespaces, pods },
      multi: read('MultiNetworkPolicy', projectMultiPolicy),
    }),
  };
  for (const cache of [caches.nodes, caches.pods, caches.slices])
    for (const one of cache.values()) problems.push(...one.problems);
  return caches;
};

/** As the node's annotator does it, into the facts. */
const giveAddresses = (
  objects: readonly KubeObject[],
  desired: readonly PodAttachments[],
  facts: FactStore,
  cluster: ClusterConfig,
): Diagnostic[] => {
  const book = new AddressBook();
  const created = new Map(
    objects.flatMap((object): [string, string][] =>
      object.kind === 'Pod' ? [[keyOf(object), object.metadata.creationTimestamp ?? '']] : [],
    ),
  );
  // A key is no text to sort by: `-` of a longer namespace is before the `/` behind a shorter one.
  const age = ({ pod }: PodAttachments): string => [created.get(podKey(pod)), pod.namespace, pod.name].join('\u0000');
  const ordered = [...desired].sort((a, b) => (age(a) < age(b) ? -1 : 1));
  for (const { pod, attachments, held: all } of ordered) {
    for (const { nadKey, network, subnets, givenBy } of [...attachments, ...all]) {
      if (givenBy !== 'node' || subnets.length === 0) continue;
      book.setSubnets(network, subnets);
      const held = pod.networks.get(nadKey);
      if (held !== undefined) book.enter(podKey(pod), nadKey, network.name, held.ipAddresses.map(addressOf), held.mac);
    }
  }
  return ordered.flatMap((attachments) => giveToPod(attachments, book, facts, cluster));
};

const giveToPod = (
  { pod, attachments }: PodAttachments,
  book: AddressBook,
  facts: FactStore,
  cluster: ClusterConfig,
): Diagnostic[] => {
  const object = `Pod/${podKey(pod)}`;
  if (pod.barred !== undefined) return [];
  const lacking = attachments.filter(({ givenBy, nadKey }) => givenBy === 'node' && !pod.networks.has(nadKey));
  if (lacking.length === 0) return [];
  try {
    const entries = lacking.map(({ nadKey, network, role, selection }) => {
      const mac = selection?.mac;
      const addresses = book.give(podKey(pod), nadKey, network.name, mac);
      return [nadKey, podNetworkEntry({ network, cluster, role, addresses, mac })] as const;
    });
    facts.set('pod', podKey(pod), { ...pod, networks: new Map([...pod.networks, ...entries]) });
    return entries.map(([nadKey, { ipAddresses }]) => ({
      object,
      severity: 'info',
      message: `has no address on ${nadKey} in the input: assuming what the node's agent would allocate, ${ipAddresses.join(', ')}`,
    }));
  } catch (error) {
    return [{ object, severity: 'error', message: messageOf(error) }];
  }
};

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
