/**
 * What administrators' policies make of the pods of this node: in which subject sets they are, and which rules these have. A policy costs
 * where it has subjects; the rest of it is kept and not looked at.
 * Over 300 lines: policies, subjects and sites refer to each other, and each change is of all three.
 */
import type { ClusterConfig } from '../../../../api/cluster-config.ts';
import type { FactStore, FactWriter } from '../../../model/fact-store.ts';
import type { TrackedView } from '../../../model/tracked-view.ts';
import type { Problem } from '../../problem.ts';
import { isSelected } from '../canonical-selector.ts';
import type { DomainSets } from '../domain-table.ts';
import { NamespaceScopes } from '../namespace-scopes.ts';
import { PeerFiling } from '../peer-filing.ts';
import type { PeerTable } from '../peer-table.ts';
import type { Placement } from '../placement.ts';
import type { PodState } from '../state.ts';
import type { PolicyNamespace } from '../types.ts';
import { AdminFailures } from './admin-failures.ts';
import { AdminOrders } from './admin-orders.ts';
import type { AdminProjection } from './admin-projection.ts';
import type { AdminState, SiteState, Subject } from './admin-state.ts';
import { buildAdminState, newSite } from './build-state.ts';
import { partsOf, type SubjectPart, subjectSetOf } from './compile.ts';
import { FirewallRoom } from './firewall-room.ts';
import { NodeChanges } from './node-changes.ts';
import { isAboutNodes, type PolicyNode } from './node-peers.ts';
import { inSafeOrder } from './safe-order.ts';
import { SiteRules } from './site-rules.ts';
import { limitParts, problemsAt, setsOf } from './subject-parts.ts';

interface AdminTableOptions {
  readonly facts: FactWriter;
  readonly watchedFacts: FactStore;
  readonly view: TrackedView;
  readonly cluster: ClusterConfig;
  readonly peers: PeerTable;
  readonly domains: DomainSets;
  readonly namespaces: ReadonlyMap<string, PolicyNamespace>;
  readonly placementOf: (namespace: string) => Placement | undefined;
  /** Facts changed that policies depend on. */
  readonly settle: () => void;
  /** Ids of subject sets, sorted. */
  readonly setSubjects: (pod: PodState, sets: readonly string[]) => void;
  /** What throws closes the pod, which comes again later. */
  readonly attempt: (pod: PodState, run: () => void) => void;
  /** Whether they are closed may be different now. */
  readonly onClosing: (pods: Iterable<PodState>) => void;
  readonly onFailure: () => void;
}

export class AdminTable {
  readonly #options: AdminTableOptions;
  readonly #policies = new Map<string, AdminState>();
  readonly #projections = new Map<string, AdminProjection>();
  readonly #scopes: NamespaceScopes;
  readonly #filing: PeerFiling<AdminState>;
  readonly #orders = new AdminOrders();
  readonly #room = new FirewallRoom();
  readonly #nodes: NodeChanges;
  readonly #rules: SiteRules;
  /** Pods of this node that have not finished, and the policies that are about them. */
  readonly #locals = new Map<PodState, ReadonlySet<AdminState>>();
  readonly #stale = new Map<SiteState, 'parts' | 'all'>();
  readonly #moved = new Set<PodState>();
  readonly #failures: AdminFailures;

  constructor(options: AdminTableOptions) {
    const { facts, view, cluster, peers, domains, namespaces } = options;
    this.#options = options;
    this.#failures = new AdminFailures(options.onFailure);
    this.#scopes = new NamespaceScopes(namespaces);
    this.#filing = new PeerFiling(this.#scopes);
    this.#nodes = new NodeChanges({
      ...{ facts: options.watchedFacts, view, cluster, failures: this.#failures },
      mark: (nodes) => this.#markForNodes(nodes),
      settle: options.settle,
    });
    this.#rules = new SiteRules({
      ...{ facts, peers, domains, nodes: this.#nodes.peers },
      onChange: (site) => this.#stale.set(site, 'all'),
      onOtherNodes: (site) => {
        this.#stale.set(site, 'all');
        options.settle();
      },
    });
  }

  /** Undefined when the policy is gone. @param key `AdminNetworkPolicy/name` */
  changePolicy(key: string, after: AdminProjection | undefined): void {
    if (after === undefined) this.#projections.delete(key);
    else this.#projections.set(key, after);
    this.#follow(key);
  }

  /** Undefined when the node is gone. What throws leaves rules as they are. */
  changeNode(name: string, after: PolicyNode | undefined): void {
    this.#nodes.change(name, after);
  }

  /** Before another event: what failed then is not tried again before that. */
  retry(): void {
    const { policy, node } = this.#failures;
    if (policy !== undefined) this.#follow(policy);
    if (node !== undefined) this.changeNode(...node);
  }

  /** What could not be followed because of an error of the agent's own. */
  failed(): Problem[] {
    return this.#failures.problems();
  }

  /** It looks at nothing any more, and writes nothing. */
  stop(): void {
    this.#nodes.stop();
    for (const { sites } of this.#policies.values())
      for (const { unwatch } of sites.values()) for (const end of unwatch) end();
  }

  get hasPolicies(): boolean {
    return this.#projections.size > 0;
  }

  isClosed(pod: PodState): boolean {
    const isKnown = (key: string) => this.#policies.get(key)?.policy === this.#projections.get(key)?.policy;
    return this.#failures.isClosed(pod, isKnown, this.#locals.get(pod) ?? NONE);
  }

  /** A pod came, changed or went, or is elsewhere now. */
  movePod(pod: PodState, isThere: boolean): void {
    const isLocal = isThere && pod.pod.isLocal && !pod.pod.finished;
    const before = this.#locals.get(pod) ?? NONE;
    // Most pods of a cluster.
    if (!isLocal && before === NONE) return;
    const after = isLocal ? new Set(this.#filing.matching(pod.pod.namespace, pod.pod.labels)) : NONE;
    const all = before.union(after);
    // As long as not all is done.
    this.#locals.set(pod, all);
    for (const state of all) this.#place(pod, state, after.has(state));
    if (isLocal) this.#locals.set(pod, after);
    else this.#locals.delete(pod);
  }

  /** @returns whether its pods are subjects of others now, and have to be moved */
  changeNamespace(name: string): boolean {
    return this.#scopes.change(name);
  }

  settle(): void {
    const { site: failed } = this.#failures;
    if (failed !== undefined) this.#stale.set(failed, 'all');
    for (const site of this.#stale.keys()) for (const pod of limitParts(site)) this.#moved.add(pod);
    for (const site of this.#room.settle(this.#stale.keys())) this.#stale.set(site, 'all');
    for (const [site, only] of inSafeOrder(this.#stale, (one) => this.#placeOf(one))) {
      this.#stale.delete(site);
      this.#compileOrClose(site, only);
    }
    for (const pod of this.#moved) {
      const states = [...(this.#locals.get(pod) ?? NONE)];
      const subjects = states.flatMap((state) => state.subjects.get(pod) ?? []);
      this.#options.setSubjects(pod, subjects.flatMap(setsOf).sort());
    }
    this.#moved.clear();
  }

  problems(): Problem[] {
    return [
      ...this.#projections.values().flatMap(({ problems }) => problems),
      ...this.#failures.problems(),
      ...this.#orders.problems(),
      ...this.#policies.values().flatMap(problemsAt),
    ];
  }

  #follow(key: string): void {
    const hadFailed = this.#failures.deletePolicy(key);
    const policy = this.#projections.get(key)?.policy;
    try {
      this.#replace(key, policy && buildAdminState(key, policy, (error) => this.#failRules(key, error)));
      // One that nobody can be selected by is there all the same, or a label that is removed would move others.
      for (const moved of this.#orders.put(key, policy)) this.#markSites(this.#policies.get(moved));
    } catch (error) {
      this.#failures.addPolicy(key, error);
    }
    if (hadFailed !== this.#failures.hasPolicy(key)) this.#options.onClosing(this.#locals.keys());
  }

  /** It may be long after the policy came, when a pod comes that it is about. */
  #failRules(key: string, error: unknown): void {
    this.#failures.addPolicy(key, error);
    this.#options.onClosing(this.#locals.keys());
  }

  /** What can throw comes first, as long as all is as it was; then pod by pod. */
  #replace(key: string, after: AdminState | undefined): void {
    const before = this.#policies.get(key);
    const namespaces = this.#file(before, after);
    if (after === undefined) this.#policies.delete(key);
    else this.#policies.set(key, after);
    // What it has stays where it is, unless it is another now.
    const sites = after === undefined ? [] : [...(before?.sites.values() ?? this.#failures.sitesOf(key))];
    for (const site of sites) {
      const heir: SiteState = { ...site, state: after as AdminState };
      heir.state.sites.set(site.network, heir);
      this.#stale.set(heir, 'all');
    }
    for (const [pod, policies] of this.#locals)
      this.#options.attempt(pod, () => {
        const isSubject =
          namespaces.has(pod.pod.namespace) && isSelected((after as AdminState).selector, pod.pod.labels);
        if (!isSubject && before?.subjects.has(pod) !== true) return;
        const next = new Set(isSubject ? [...policies, after as AdminState] : policies);
        // With what was, until it is left.
        this.#locals.set(pod, next);
        if (isSubject) this.#place(pod, after as AdminState, true);
        if (before === undefined) return;
        this.#place(pod, before, false);
        this.#locals.set(pod, new Set([...next].filter((one) => one !== before)));
      });
    for (const site of sites) {
      this.#stale.delete(site);
      this.#failures.deleteSite(site);
    }
  }

  /** @returns names of the namespaces whose pods it may be about */
  #file(before: AdminState | undefined, after: AdminState | undefined): ReadonlySet<string> {
    try {
      const namespaces = new Set(after && this.#filing.add(after));
      if (before !== undefined) this.#filing.delete(before);
      return namespaces;
    } catch (error) {
      if (after !== undefined) this.#filing.delete(after);
      throw error;
    }
  }

  #placeOf({ state, parts }: SiteState): number | undefined {
    return parts.size === 0 ? undefined : this.#orders.placeOf(state.policy, state.key);
  }

  #compileOrClose(site: SiteState, only: 'parts' | 'all'): void {
    const { state } = site;
    const hadFailed = this.#failures.deleteSite(site);
    let isFailing = false;
    try {
      this.#rules.compile(site, this.#placeOf(site), only);
      if (site.parts.size === 0 && state.sites.get(site.network) === site) state.sites.delete(site.network);
    } catch (error) {
      isFailing = true;
      this.#failures.addSite(site, error);
    }
    if (hadFailed !== isFailing) this.#options.onClosing(state.subjects.keys());
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
    const at = { network: where.network, policy: state.key };
    // Before something is counted: it reads the tenant's words.
    const parts = partsOf(state.rules.names, pod.ports).map((part) => ({ part, id: subjectSetOf(at, part) }));
    const site = this.#siteOf(state, where.network, where.families);
    return {
      site,
      parts: [this.#count(site, site.whole), ...parts.map(({ part, id }) => this.#count(site, id, part))],
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
    const site = newSite(state, network, families);
    state.sites.set(network, site);
    return site;
  }

  #markSites(state: AdminState | undefined): void {
    for (const site of state?.sites.values() ?? []) this.#stale.set(site, 'all');
  }

  #markForNodes(nodes: readonly PolicyNode[]): void {
    for (const state of this.#policies.values()) {
      if (state.sites.size > 0 && isAboutNodes(state.rules.nodes, nodes)) this.#markSites(state);
    }
  }
}

const NONE: ReadonlySet<AdminState> = new Set();
