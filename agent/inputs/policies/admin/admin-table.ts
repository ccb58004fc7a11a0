/**
 * What administrators' policies make of the pods of this node: in which subject sets they are, and which rules these have. A policy costs
 * where it has subjects; the rest of it is kept and not looked at.
 */
import type { ClusterConfig } from '../../../../api/cluster-config.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { TrackedView } from '../../../model/tracked-view.ts';
import type { Problem } from '../../problem.ts';
import { isSelected } from '../canonical-selector.ts';
import { PeerFiling } from '../peer-filing.ts';
import type { PeerTable } from '../peer-table.ts';
import type { Placement } from '../placement.ts';
import type { PodState } from '../state.ts';
import { selectionOf } from '../templates.ts';
import type { PolicyNamespace } from '../types.ts';
import type { AdminProjection } from './admin-projection.ts';
import type { AdminState, SiteState, Subject } from './admin-state.ts';
import { partsOf, type SubjectPart, subjectNames, subjectSetOf } from './compile.ts';
import { NodePeers, type PolicyNode } from './node-peers.ts';
import { AdminOrder } from './order.ts';
import { widthOf } from './places.ts';
import { inSafeOrder } from './safe-order.ts';
import { SiteRules } from './site-rules.ts';
import { limitParts, partLimit, setsOf } from './subject-parts.ts';
import { adminTemplates } from './templates.ts';

interface AdminTableOptions {
  readonly facts: FactStore;
  readonly view: TrackedView;
  readonly cluster: ClusterConfig;
  readonly peers: PeerTable;
  readonly namespaces: ReadonlyMap<string, PolicyNamespace>;
  readonly placementOf: (namespace: string) => Placement | undefined;
  /** Facts changed that policies depend on. */
  readonly settle: () => void;
  /** Ids of subject sets, sorted. */
  readonly setSubjects: (pod: PodState, sets: readonly string[]) => void;
}

export class AdminTable {
  readonly #options: AdminTableOptions;
  readonly #policies = new Map<string, AdminState>();
  readonly #projections = new Map<string, AdminProjection>();
  readonly #filing: PeerFiling<AdminState>;
  readonly #orders = { admin: new AdminOrder(), baseline: new AdminOrder() };
  readonly #nodes: NodePeers;
  readonly #rules: SiteRules;
  /** Pods of this node that have not finished, and the policies that are about them. */
  readonly #locals = new Map<PodState, ReadonlySet<AdminState>>();
  readonly #stale = new Map<SiteState, 'parts' | 'all'>();
  readonly #moved = new Set<PodState>();

  constructor(options: AdminTableOptions) {
    const { facts, view, cluster, peers, namespaces } = options;
    this.#options = options;
    this.#filing = new PeerFiling(namespaces);
    this.#nodes = new NodePeers({
      ...{ facts, view, cluster },
      onChange: (node) => {
        this.#markForNodes([node]);
        options.settle();
      },
    });
    this.#rules = new SiteRules({
      facts,
      peers,
      nodes: this.#nodes,
      onChange: (site) => this.#stale.set(site, 'all'),
      onOtherNodes: (site) => {
        this.#stale.set(site, 'all');
        options.settle();
      },
    });
  }

  /** Undefined when the policy is gone. @param key `AdminNetworkPolicy/name` */
  changePolicy(key: string, after: AdminProjection | undefined): void {
    const before = this.#remove(key);
    if (after === undefined) this.#projections.delete(key);
    else {
      this.#projections.set(key, after);
      this.#add(key, after, before);
    }
    for (const order of Object.values(this.#orders))
      for (const moved of order.settle()) this.#markSites(this.#policies.get(moved));
  }

  /** Undefined when the node is gone. */
  changeNode(name: string, after: PolicyNode | undefined): void {
    this.#markForNodes(this.#nodes.change(name, after));
  }

  /** A pod came, changed or went, or is elsewhere now. */
  movePod(pod: PodState, isThere: boolean): void {
    const isLocal = isThere && pod.pod.isLocal && !pod.pod.finished;
    const before = this.#locals.get(pod) ?? NONE;
    // Most pods of a cluster.
    if (!isLocal && before === NONE) return;
    const after = isLocal ? new Set(this.#filing.matching(pod.pod.namespace, pod.pod.labels)) : NONE;
    if (isLocal) this.#locals.set(pod, after);
    else this.#locals.delete(pod);
    for (const state of before.union(after)) this.#place(pod, state, after.has(state));
  }

  /** @returns whether its pods are subjects of others now, and have to be moved */
  changeNamespace(name: string): boolean {
    return this.#filing.changeNamespace(name);
  }

  settle(): void {
    for (const site of this.#stale.keys()) {
      if (!limitParts(site)) continue;
      for (const [pod, subject] of site.state.subjects) if (subject.site === site) this.#moved.add(pod);
    }
    for (const [site, only] of inSafeOrder(this.#stale, (one) => this.#placeOf(one))) {
      this.#stale.delete(site);
      const { state } = site;
      this.#rules.compile(site, this.#placeOf(site), only);
      if (site.parts.size === 0 && state.sites.get(site.network) === site) state.sites.delete(site.network);
    }
    for (const pod of this.#moved) {
      const states = [...(this.#locals.get(pod) ?? NONE)];
      const subjects = states.flatMap((state) => state.subjects.get(pod) ?? []);
      this.#options.setSubjects(pod, subjects.flatMap(setsOf).sort());
    }
    this.#moved.clear();
  }

  #placeOf({ state, parts }: SiteState): number | undefined {
    return parts.size === 0 ? undefined : this.#orders[state.policy.tier].placeOf(state.key);
  }

  problems(): Problem[] {
    return [
      ...this.#projections.values().flatMap(({ problems }) => problems),
      ...Object.values(this.#orders).flatMap((order) => order.unplaced().map(noRoom)),
      ...this.#policies.values().flatMap(problemsAt),
    ];
  }

  /** @param before of the same policy: what it has stays where it is, unless it is another now */
  #add(key: string, { policy }: AdminProjection, before: AdminState | undefined): void {
    const { name, priority, tier } = policy;
    this.#orders[tier].set({ key, name, priority, width: widthOf(policy) });
    const selection = selectionOf(policy.subject, '');
    // Nothing can be selected: it is in the order all the same, or a label that is removed would move others.
    if (selection === undefined) return;
    const templates = adminTemplates(policy);
    const state: AdminState = {
      ...{
        key,
        policy,
        templates,
        names: subjectNames(templates),
        limit: partLimit(templates),
        selection,
        selector: selection.selector,
      },
      ...{ sites: new Map(), subjects: new Map() },
    };
    this.#policies.set(key, state);
    for (const site of before?.sites.values() ?? []) {
      this.#stale.delete(site);
      const heir: SiteState = { ...site, state };
      state.sites.set(site.network, heir);
      this.#stale.set(heir, 'all');
    }
    const namespaces = new Set(this.#filing.add(state));
    for (const [pod, policies] of this.#locals) {
      if (!namespaces.has(pod.pod.namespace) || !isSelected(state.selector, pod.pod.labels)) continue;
      this.#locals.set(pod, new Set([...policies, state]));
      this.#place(pod, state, true);
    }
  }

  #remove(key: string): AdminState | undefined {
    for (const order of Object.values(this.#orders)) order.delete(key);
    const state = this.#policies.get(key);
    if (state === undefined) return undefined;
    this.#policies.delete(key);
    this.#filing.delete(state);
    for (const pod of [...state.subjects.keys()]) {
      this.#locals.set(pod, new Set([...(this.#locals.get(pod) ?? NONE)].filter((one) => one !== state)));
      this.#place(pod, state, false);
    }
    return state;
  }

  /** The sets of a policy that a pod is in are those of its network and its ports. */
  #place(pod: PodState, state: AdminState, isSubject: boolean): void {
    const before = state.subjects.get(pod);
    const after = isSubject ? this.#enter(pod, state) : undefined;
    if (before !== undefined) this.#leave(before);
    if (after === undefined) state.subjects.delete(pod);
    else state.subjects.set(pod, after);
    if (before !== undefined || after !== undefined) this.#moved.add(pod);
  }

  #enter({ pod }: PodState, state: AdminState): Subject | undefined {
    const where = this.#options.placementOf(pod.namespace)?.site;
    if (where?.network === undefined) return undefined;
    const site = this.#siteOf(state, where.network, where.families);
    const parts = partsOf(state.names, pod.ports);
    const at = { network: site.network, policy: state.key };
    return {
      site,
      parts: [this.#count(site, site.whole), ...parts.map((part) => this.#count(site, subjectSetOf(at, part), part))],
    };
  }

  #count(site: SiteState, id: string, part?: SubjectPart): string {
    const counted = site.parts.get(id) ?? { part, members: 0 };
    counted.members += 1;
    site.parts.set(id, counted);
    if (counted.members === 1 || site.excess.size > 0) this.#markParts(site);
    return id;
  }

  #leave({ site, parts }: Subject): void {
    for (const id of parts) {
      const counted = site.parts.get(id);
      if (counted === undefined) continue;
      counted.members -= 1;
      if (counted.members === 0 || site.excess.size > 0) this.#markParts(site);
    }
  }

  #markParts(site: SiteState): void {
    if (!this.#stale.has(site)) this.#stale.set(site, 'parts');
  }

  #siteOf(state: AdminState, network: string, families: SiteState['families']): SiteState {
    const known = state.sites.get(network);
    if (known !== undefined) {
      if (known.families.join() !== families.join()) this.#stale.set(known, 'all');
      known.families = families;
      return known;
    }
    const whole = subjectSetOf({ network, policy: state.key }, undefined);
    const site: SiteState = {
      ...{ state, network, families, first: undefined, whole, parts: new Map(), excess: new Set() },
      ...{ sets: new Map(), notes: [], unwatch: [] },
    };
    state.sites.set(network, site);
    return site;
  }

  #markSites(state: AdminState | undefined): void {
    for (const site of state?.sites.values() ?? []) this.#stale.set(site, 'all');
  }

  #markForNodes(nodes: readonly PolicyNode[]): void {
    for (const state of this.#policies.values()) {
      const isConcerned = state.templates.some(({ peers }) =>
        peers.some(
          (peer) =>
            peer.kind === 'nodes' &&
            peer.selectors.some((selector) => nodes.some(({ labels }) => isSelected(selector, labels))),
        ),
      );
      if (isConcerned) this.#markSites(state);
    }
  }
}

const NONE: ReadonlySet<AdminState> = new Set();

const noRoom = (object: string): Problem => ({
  object,
  message: 'there are too many policies of its tier: it is not enforced, as it comes last in their order',
  cause: 'policy-not-enforced',
});

const problemsAt = ({ key, sites, limit }: AdminState): Problem[] => {
  const messages = [...sites.values()].flatMap(({ notes, excess }) =>
    excess.size > 0 ? [...notes, manyParts(limit)] : notes,
  );
  return [...new Set(messages)].map((message) => ({ object: key, severity: 'warning', message }));
};

const manyParts = (limit: number): string =>
  `pods of this node have more than ${limit} numbers for its named ports: those of fewest pods are allowed nothing there, and rules that deny or pass deny them all of the protocol`;
