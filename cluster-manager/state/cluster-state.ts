/**
 * Everything that the cluster manager has given out, and to whom. It follows what happens in the cluster one event at a
 * time and says what each event touched; writing that is others' business. No I/O and no clock: `udnctl render` runs it on
 * files.
 */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { Labels } from '../../api/label-selector.ts';
import type { ObjectRef } from '../../api/object.ts';
import { ClaimBook } from '../allocation/claim-book.ts';
import { isMismatch, isRefusal, type NetworkChange, NetworkRegistry } from '../allocation/network-registry.ts';
import type { NetworkLimits } from '../allocation/network-room.ts';
import { NodeAllocations } from '../allocation/node-allocations.ts';
import { NOTHING, type PodPlan, planPod } from '../allocation/plan-pod.ts';
import { PodAllocations } from '../allocation/pod-allocations.ts';
import { madeAttachments, type PodAttachments, podAttachments } from '../allocation/pod-attachments.ts';
import type { ClaimFacts } from '../facts/claim-facts.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';

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
}

export const NOTHING_TOUCHED: Touched = { nodes: [], networks: [], nads: [], freed: [], claims: [], admitted: [] };

/** A sentence for the owner of an object. */
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

export class ClusterState {
  readonly cluster: ClusterConfig;
  readonly registry: NetworkRegistry;
  readonly nodes: NodeAllocations;
  readonly pods = new PodAllocations();
  readonly claims = new ClaimBook(this.pods);
  /** Sentences about the configuration or the ids of a NAD, for as long as they are true. */
  readonly nadProblems = new Map<string, readonly string[]>();

  constructor(cluster: ClusterConfig, limits?: NetworkLimits) {
    this.cluster = cluster;
    this.registry = new NetworkRegistry(cluster, limits);
    this.nodes = new NodeAllocations(cluster);
  }

  /**
   * To be called once, with everything that exists: what is held already is noted, oldest first, before anything is given
   * out. What two hold stays with the older one.
   */
  recover({ nads, nodes, pods, claims = [], labelsOf }: Inventory): readonly Problem[] {
    const byAge = [...nads].sort(oldestNadFirst);
    const problems: Problem[] = [];
    const report = (object: ObjectRef, messages: readonly string[]): void => {
      problems.push(...messages.map((message) => ({ object, message })));
    };
    // Claims before pods: what a claim has is its own, whether a pod has it now or not.
    for (const claim of claims) this.claims.upsert(claim);
    for (const nad of byAge) report(nadRef(nad), this.registry.recover(nad));
    for (const nad of byAge) this.#noteNad(nad, { assign: false });
    for (const { claim, message } of this.claims.conflicts()) report(claimRef(claim), [message]);
    const nodesByAge = [...nodes].sort(oldestFirst);
    for (const node of nodesByAge) report({ kind: 'Node', name: node.name }, this.nodes.recover(node));
    for (const node of nodesByAge) this.nodes.addNode(node.name);
    for (const pod of [...pods].sort(oldestFirst)) {
      const made = madeAttachments(pod, this.registry);
      if (made.length === 0) continue;
      // What the pod asks for says by which claim it has it, nothing else.
      const { layer2 } = podAttachments(pod, labelsOf(pod.namespace), this.registry);
      const attachments = layer2.filter(({ nadKey }) => made.some((one) => one.nadKey === nadKey));
      report(podRef(pod), planPod(pod, { made, attachments }, this.cluster, this).problems);
    }
    return problems;
  }

  upsertNad(nad: NadFacts): Touched {
    return this.#noteNad(nad, { assign: true });
  }

  removeNad(key: string): Touched {
    this.nadProblems.delete(key);
    return this.#follow(this.registry.remove(key), { assign: true });
  }

  upsertNode(node: NodeFacts): Touched {
    return { ...NOTHING_TOUCHED, nodes: [node.name], networks: this.nodes.addNode(node.name) };
  }

  removeNode(name: string): Touched {
    return { ...NOTHING_TOUCHED, ...this.nodes.removeNode(name) };
  }

  attachmentsOf(pod: PodFacts, labels: Labels | undefined): PodAttachments {
    return podAttachments(pod, labels, this.registry);
  }

  /** Whether the pod has something of a layer-2 network, by its annotation. */
  hasLayer2(pod: PodFacts): boolean {
    return madeAttachments(pod, this.registry).length > 0;
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

  #noteNad(nad: NadFacts, { assign }: { assign: boolean }): Touched {
    const { changes, problems } = this.registry.upsert(nad);
    if (problems.length === 0) this.nadProblems.delete(nad.key);
    else this.nadProblems.set(nad.key, problems);
    const touched = this.#follow(changes, { assign });
    return { ...touched, nads: [...touched.nads, nad.key] };
  }

  #follow(changes: readonly NetworkChange[], { assign }: { assign: boolean }): Touched {
    const nads: string[] = [];
    const admitted: string[] = [];
    let touchesNodes = false;
    for (const { before, after } of changes) {
      const network = after?.network;
      if (before?.network.topology === 'layer3' && network?.topology !== 'layer3') {
        touchesNodes = this.nodes.removeNetwork(before.name) || touchesNodes;
      }
      if (before?.network.topology === 'layer2' && network?.topology !== 'layer2') this.pods.removeNetwork(before.name);
      if (network?.topology === 'layer3') {
        this.nodes.setNetwork(network);
        if (assign) this.nodes.assignNetwork(network.name);
        touchesNodes = true;
      }
      if (network?.topology === 'layer2') {
        this.pods.setNetwork(network);
        this.claims.recoverNetwork(network.name);
      }
      if (after === undefined) continue;
      const keys = this.registry.nadsOf(after.name).map(({ key }) => key);
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
    };
  }

  /** What is wrong with a NAD of a network that has its id, and is what it is, now. @returns whether the id is new */
  #review(key: string, network: string): boolean {
    const problems = this.nadProblems.get(key) ?? [];
    const others = problems.filter((problem) => !isRefusal(network, problem) && !isMismatch(network, problem));
    const now = [...others, ...this.registry.mismatch(key)];
    if (now.length === 0) this.nadProblems.delete(key);
    else this.nadProblems.set(key, now);
    return problems.some((problem) => isRefusal(network, problem));
  }
}

interface Aged {
  readonly creationTimestamp: string;
  readonly namespace?: string;
  readonly name: string;
}

const oldestFirst = (a: Aged, b: Aged): number =>
  order(a.creationTimestamp, b.creationTimestamp) ||
  order(a.namespace ?? '', b.namespace ?? '') ||
  order(a.name, b.name);

const oldestNadFirst = (a: NadFacts, b: NadFacts): number => oldestFirst(aged(a), aged(b));

const aged = ({ metadata }: NadFacts): Aged => ({ ...metadata, creationTimestamp: metadata.creationTimestamp ?? '' });

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const nadRef = ({ metadata }: NadFacts): ObjectRef => ({
  kind: 'NetworkAttachmentDefinition',
  namespace: metadata.namespace,
  name: metadata.name,
});

const claimRef = ({ namespace, name }: ClaimFacts): ObjectRef => ({ kind: 'IPAMClaim', namespace, name });

const podRef = ({ namespace, name }: PodFacts): ObjectRef => ({ kind: 'Pod', namespace, name });
