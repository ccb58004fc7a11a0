/**
 * Everything that the cluster manager has given out, and to whom. It follows what happens in the cluster one event at a
 * time and says what each event touched; writing that is others' business. No I/O and no clock: `udnctl render` runs it on
 * files.
 */

import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { Labels } from '../../api/label-selector.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { hasClusterIpam } from '../../api/network.ts';
import type { ObjectRef } from '../../api/object.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import { cidrFamily } from '../../net/cidr.ts';
import type { Family } from '../../net/ip.ts';
import { networkOrNone } from '../allocation/check-conf.ts';
import { ClaimBook } from '../allocation/claim-book.ts';
import { ignoredByNetworks } from '../allocation/ignored-by-networks.ts';
import { isMismatch, isNoGrowth, isRefusal } from '../allocation/network-messages.ts';
import { type NetworkChange, NetworkRegistry } from '../allocation/network-registry.ts';
import type { HeldFamilies, NetworkLimits } from '../allocation/network-room.ts';
import { NodeAllocations } from '../allocation/node-allocations.ts';
import { hasAll, NOTHING, type PodPlan, planPod } from '../allocation/plan-pod.ts';
import { PodAllocations } from '../allocation/pod-allocations.ts';
import {
  asksForNothing,
  madeAttachments,
  NO_ATTACHMENTS,
  type PodAttachments,
  podAttachments,
} from '../allocation/pod-attachments.ts';
import { withoutAttachment } from '../facts/attached-keys.ts';
import type { ClaimFacts } from '../facts/claim-facts.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { type HeldByNode, heldByNode, type NodeFacts } from '../facts/node-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import { type Rendered, renderOrExplain } from '../render/plan-network.ts';
import { withAdopted } from './adopted-nads.ts';
import { type Aged, oldestFirst } from './age.ts';
import { isLeaving } from './leaving-nads.ts';
import { type KnownNad, knownNad } from './rendered-nads.ts';
import type { Sources } from './sources.ts';

/** What may have to be written, or tried, again. */
export interface Touched {
  /** Nodes whose annotations changed. */
  readonly nodes: readonly string[];
  /** Networks whose status changed. */
  readonly networks: readonly string[];
  /** NADs whose annotations changed. */
  readonly nads: readonly string[];
  /** Layer-2 networks that got addresses back. */
  readonly freed: readonly string[];
  /** IPAMClaims whose pods changed, or which may have lost or got what others have as well. */
  readonly claims: readonly string[];
  /** NADs whose networks were refused so far. */
  readonly admitted: readonly string[];
  /** What two hold of something that is there again. */
  readonly conflicts: readonly Problem[];
}

export const NOTHING_TOUCHED: Touched = {
  nodes: [],
  networks: [],
  nads: [],
  freed: [],
  claims: [],
  admitted: [],
  conflicts: [],
};

/** A message for the owner of an object. */
export interface Problem {
  readonly object: ObjectRef;
  readonly message: string;
}

/** What there is when the cluster manager starts. */
export interface Inventory {
  readonly nads: readonly NadFacts[];
  readonly nodes: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
  /** Absent: they were not read. */
  readonly claims?: readonly ClaimFacts[];
  readonly labelsOf: (namespace: string) => Labels | undefined;
}

export interface ClusterStateOptions {
  readonly limits?: NetworkLimits | undefined;
  /** Without: nothing goes and comes back, as in files. */
  readonly sources?: Sources | undefined;
}

export class ClusterState {
  readonly #sources: Sources | undefined;
  /** By the spec where there is one: it outlives changes of the status. */
  readonly #rendered = new WeakMap<object, Rendered>();
  readonly cluster: ClusterConfig;
  readonly registry: NetworkRegistry;
  readonly nodes: NodeAllocations;
  readonly pods = new PodAllocations();
  readonly claims = new ClaimBook(this.pods);
  /** Messages about the configuration or the ids of a NAD, for as long as they are true. */
  readonly nadProblems = new Map<string, readonly string[]>();

  constructor(cluster: ClusterConfig, { limits, sources }: ClusterStateOptions = {}) {
    this.#sources = sources;
    this.cluster = cluster;
    this.registry = new NetworkRegistry(cluster, limits);
    this.nodes = new NodeAllocations(cluster);
  }

  /**
   * To be called once, with everything that exists: what is held already is noted, oldest first, before anything is given
   * out. What two hold stays with the older one.
   */
  recover({ nads, nodes, pods, claims = [], labelsOf }: Inventory): readonly Problem[] {
    const all = [...nads].sort(oldestNadFirst).map((nad) => this.#known(nad, true));
    // Whose a network's name is comes first, however old the NADs are that have copied it.
    const known = [...all.filter(({ isOwn }) => isOwn), ...all.filter(({ isOwn }) => !isOwn)];
    const inOrder = known.map(({ nad }) => nad);
    const problems: Problem[] = [];
    const report = (object: ObjectRef, messages: readonly string[]): void => {
      problems.push(...messages.map((message) => ({ object, message })));
    };
    // Claims before pods: what a claim has is its own, whether a pod has it now or not.
    for (const claim of claims) this.claims.upsert(claim);
    for (const { nad } of all) report(nadRef(nad), this.registry.recover(nad));
    const nodesByAge = [...nodes].sort(oldestFirst).map((node) => ({ node, held: heldByNode(node) }));
    this.registry.recoverRoom(inOrder, () => familiesOf(nodesByAge.map(({ held }) => held)));
    for (const one of known) this.#noteNad(one, { assign: false });
    for (const { claim, message } of this.claims.conflicts()) report(claimRef(claim), [message]);
    for (const { node, held } of nodesByAge) {
      report({ kind: 'Node', name: node.name }, this.nodes.recover(node, held));
    }
    for (const { node } of nodesByAge) this.nodes.addNode(node.name);
    return [...problems, ...this.#recoverPods(pods, labelsOf)];
  }

  /** The configuration of a network's NADs, made once for each spec. */
  rendered(facts: NetworkFacts): Rendered {
    const source = facts.spec ?? facts;
    const known = this.#rendered.get(source) ?? renderOrExplain(facts, this.cluster);
    this.#rendered.set(source, known);
    return known;
  }

  /** What a network is by one of its NADs: undefined where it is not of the network, or what it says was refused. */
  confInForce(nadKey: string): NetConf | undefined {
    const conf = this.registry.nad(nadKey)?.conf;
    const record = this.registry.networkOfNad(nadKey);
    if (conf === undefined || record === undefined) return undefined;
    return jsonEqual(record.network, networkOrNone(conf, this.cluster)) ? conf : undefined;
  }

  upsertNad(nad: NadFacts): Touched {
    return this.#noteNad(this.#known(nad, false), { assign: true });
  }

  removeNad(key: string): Touched {
    this.nadProblems.delete(key);
    return this.#follow(this.registry.remove(key), { assign: true });
  }

  /** There are ids to assign that there were not before: NADs that have waited for them have had no part in anything so far. */
  idsCame(): Touched {
    const touched = this.#follow(this.registry.idsCame(), { assign: true });
    return { ...touched, admitted: touched.nads };
  }

  /** A NAD that was to be written is not there, and will not come. @param wasThere somebody may have seen it */
  settleNad(key: string, wasThere = true): Touched {
    return this.#follow(this.registry.settle(key, wasThere), { assign: true });
  }

  upsertNode(node: NodeFacts): Touched {
    return { ...NOTHING_TOUCHED, nodes: [node.name], networks: this.nodes.addNode(node.name) };
  }

  removeNode(name: string): Touched {
    return { ...NOTHING_TOUCHED, ...this.nodes.removeNode(name) };
  }

  attachmentsOf(pod: PodFacts, labels: Labels | undefined): PodAttachments {
    const { layer2, problems } = podAttachments(pod, labels, this.registry);
    const leaving = layer2.filter(({ nadKey }) => this.#isClosed(pod, nadKey));
    if (leaving.length === 0) return { layer2, problems };
    const problemsOfLeaving = leaving.map(
      ({ record }) => `network ${record.name} is being removed: its pods get no addresses`,
    );
    return { layer2: layer2.filter((one) => !leaving.includes(one)), problems: [...problems, ...problemsOfLeaving] };
  }

  /** Whether the pod has something of a layer-2 network, by its annotation. */
  hasLayer2(pod: PodFacts): boolean {
    return madeAttachments(pod, this.registry).length > 0;
  }

  /** Whether all that the pod needs is in its annotation, and noted: `planPod` has nothing to give it, nor to say. */
  isComplete(pod: PodFacts, labels: Labels | undefined): boolean {
    const { layer2, problems } = this.attachmentsOf(pod, labels);
    const isSilent = problems.length === 0 && ignoredByNetworks(pod, labels, this.registry).length === 0;
    return isSilent && hasAll(pod, madeAttachments(pod, this.registry), layer2, this.pods);
  }

  /** Gives the pod what it needs and says what its annotation lacks. */
  planPod(pod: PodFacts, labels: Labels | undefined): PodPlan {
    const { layer2: attachments, problems } = this.attachmentsOf(pod, labels);
    const made = madeAttachments(pod, this.registry);
    if (attachments.length + made.length === 0) return { ...NOTHING, problems };
    const plan = planPod(pod, { made, attachments }, this.cluster, this);
    return { ...plan, problems: [...problems, ...plan.problems] };
  }

  /** The pod is gone, or has completed and will not send another packet. */
  releasePod(key: string): Touched {
    const claims = [...this.claims.usedBy(key), ...this.claims.forget(key)];
    const freed = this.pods.release(key);
    return { ...NOTHING_TOUCHED, freed, claims: [...claims, ...this.claims.inConflict(freed)] };
  }

  upsertClaim(claim: ClaimFacts): void {
    this.claims.upsert(claim);
  }

  removeClaim(key: string): Touched {
    const freed = this.claims.remove(key);
    return { ...NOTHING_TOUCHED, freed, claims: this.claims.inConflict(freed) };
  }

  /** What pods have is theirs: to be called before any of them gets something. */
  #recoverPods(pods: readonly PodFacts[], labelsOf: Inventory['labelsOf']): readonly Problem[] {
    return [...pods].sort(oldestFirst).flatMap((pod) => {
      const made = madeAttachments(pod, this.registry);
      if (made.length === 0) return [];
      // What the pod asks for says by which claim it has it, nothing else.
      const { layer2 } = asksForNothing(pod) ? NO_ATTACHMENTS : this.attachmentsOf(pod, labelsOf(pod.namespace));
      const attachments = layer2.filter(({ nadKey }) => made.some((one) => one.nadKey === nadKey));
      const { problems } = planPod(pod, { made, attachments }, this.cluster, this);
      return problems.map((message) => ({ object: podRef(pod), message }));
    });
  }

  /** What the pod has it keeps. */
  #isClosed({ key, annotatedKeys = [] }: PodFacts, nadKey: string): boolean {
    if (annotatedKeys.includes(nadKey) || this.pods.holds(key, nadKey)) return false;
    const nad = this.registry.nad(withoutAttachment(nadKey));
    return nad !== undefined && isLeaving(nad, this.#sources);
  }

  #known(nad: NadFacts, isRecovered: boolean): KnownNad {
    const [sources, cluster] = [this.#sources, this.cluster];
    const before = this.registry.nad(nad.key);
    const known = knownNad(nad, { before, sources, isRecovered }, (facts) => this.rendered(facts));
    if (known.isOwn) return known;
    const inForce = this.confInForce(nad.key);
    return { ...known, nad: withAdopted(known.nad, { inForce, sources, cluster, isRecovered }) };
  }

  #noteNad({ nad, isOwn }: KnownNad, { assign }: { assign: boolean }): Touched {
    const before = this.registry.networkOfNad(nad.key)?.name;
    const { changes, problems } = this.registry.upsert(nad, isOwn);
    if (problems.length === 0) this.nadProblems.delete(nad.key);
    else this.nadProblems.set(nad.key, problems);
    const touched = this.#follow(changes, { assign });
    const isJoining = assign && this.registry.networkOfNad(nad.key)?.name !== before;
    const conflicts = isJoining ? this.#recoverUsers([nad.key]) : [];
    return { ...touched, nads: [...touched.nads, nad.key], conflicts: [...touched.conflicts, ...conflicts] };
  }

  #follow(changes: readonly NetworkChange[], { assign }: { assign: boolean }): Touched {
    const nads: string[] = [];
    const admitted: string[] = [];
    const conflicts: Problem[] = [];
    let touchesNodes = false;
    for (const change of changes) {
      touchesNodes = this.#followNetwork(change, { assign }) || touchesNodes;
      const { after } = change;
      if (after === undefined) continue;
      const keys = this.registry.nadsOf(after.name).map(({ key }) => key);
      if (assign) conflicts.push(...this.#recoverUsers(keys));
      nads.push(...keys);
      admitted.push(...keys.filter((key) => this.#review(key, after.name)));
    }
    const networks = changes.map(({ before, after }) => (after ?? before)?.name ?? '');
    return {
      ...NOTHING_TOUCHED,
      nodes: touchesNodes ? this.nodes.nodes() : [],
      networks,
      nads,
      claims: this.claims.inConflict(networks),
      admitted,
      conflicts,
    };
  }

  /** @returns whether it is about nodes, too */
  #followNetwork({ before, after }: NetworkChange, { assign }: { assign: boolean }): boolean {
    const network = after?.network;
    const wasLayer3 = before?.network.topology === 'layer3';
    let touchesNodes = false;
    if (wasLayer3 && network?.topology !== 'layer3') touchesNodes = this.nodes.removeNetwork(before.name);
    if (before !== undefined && hasClusterIpam(before.network) && (network === undefined || !hasClusterIpam(network)))
      this.pods.removeNetwork(before.name);
    if (network?.topology === 'layer3') {
      this.nodes.setNetwork(network);
      if (assign && !wasLayer3) this.#recoverSubnets(network.name);
      if (assign) this.nodes.assignNetwork(network.name);
      touchesNodes = true;
    }
    if (network !== undefined && hasClusterIpam(network)) {
      this.pods.setNetwork(network);
      this.claims.recoverNetwork(network.name);
    }
    return touchesNodes;
  }

  /**
   * Pods run on when their network goes and comes back; none is given what they have, whoever has its turn first. In the turn
   * in which the network is there again.
   */
  #recoverUsers(nadKeys: readonly string[]): readonly Problem[] {
    if (this.#sources === undefined) return [];
    const { podsUsing, labelsOf } = this.#sources;
    const pods = new Set(nadKeys.flatMap((key) => podsUsing(key)));
    return pods.size === 0 ? [] : this.#recoverPods([...pods], labelsOf);
  }

  /** What two nodes have stays with the older one; the other gets a new one, and nobody has to be notified. */
  #recoverSubnets(network: string): void {
    for (const node of [...(this.#sources?.nodes() ?? [])].sort(oldestFirst)) this.nodes.recoverSubnets(network, node);
  }

  /** What is wrong with a NAD of a network that has its id, and is what it is, now. @returns whether the NAD has had no part in it so far */
  #review(key: string, network: string): boolean {
    const problems = this.nadProblems.get(key) ?? [];
    const isPast = [isRefusal, isMismatch, isNoGrowth];
    const others = problems.filter((problem) => !isPast.some((is) => is(network, problem)));
    const now = [...others, ...this.registry.mismatch(key)];
    if (now.length === 0) this.nadProblems.delete(key);
    else this.nadProblems.set(key, now);
    const wasOut = problems.some((problem) => isRefusal(network, problem) || isMismatch(network, problem));
    return wasOut && this.registry.networkOfNad(key) !== undefined;
  }
}

/** Network → the families that nodes have subnets of. */
const familiesOf = (nodes: readonly HeldByNode[]): HeldFamilies => {
  const families = new Map<string, Set<Family>>();
  for (const [network, subnets] of nodes.flatMap(({ subnets }) => [...subnets])) {
    const known = families.get(network) ?? new Set();
    families.set(network, known);
    for (const subnet of subnets) known.add(cidrFamily(subnet));
  }
  return families;
};

const oldestNadFirst = (a: NadFacts, b: NadFacts): number => oldestFirst(aged(a), aged(b));

const aged = ({ metadata }: NadFacts): Aged => ({ ...metadata, creationTimestamp: metadata.creationTimestamp ?? '' });

const nadRef = ({ metadata }: NadFacts): ObjectRef => ({
  kind: 'NetworkAttachmentDefinition',
  namespace: metadata.namespace,
  name: metadata.name,
});

const claimRef = ({ namespace, name }: ClaimFacts): ObjectRef => ({ kind: 'IPAMClaim', namespace, name });

const podRef = ({ namespace, name }: PodFacts): ObjectRef => ({ kind: 'Pod', namespace, name });
