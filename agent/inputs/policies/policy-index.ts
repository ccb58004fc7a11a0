/**
 * NetworkPolicies as facts. It is told what changes, looks only at what that may concern, and writes the facts that follow: which rules,
 * peer sets and deny groups exist, which of them a pod of this node holds, and which pods of any node are peers. The result depends on the
 * objects alone and not on the order in which they came.
 * Over 300 lines: each method follows one kind of change, and all guard the same tables.
 */
import type { FactStore, FactWriter } from '../../model/fact-store.ts';
import { TrackedView } from '../../model/tracked-view.ts';
import type { LocalSettings } from '../../model/view.ts';
import type { Problem } from '../problem.ts';
import { isSameLog } from './acl-log.ts';
import type { AdminProjection } from './admin/admin-projection.ts';
import { AdminTable } from './admin/admin-table.ts';
import type { PolicyNode } from './admin/node-peers.ts';
import { type DomainSets, DomainTable } from './domain-table.ts';
import { evaluatedPod } from './evaluated-pod.ts';
import { ALL_POLICIES, Failures, NO_NAMESPACE, namespaceObject, podObject, policyObject } from './failures.ts';
import { inTurn } from './in-turn.ts';
import { groupsOf, newNamespace, putPod } from './namespace-pods.ts';
import { PeerTable } from './peer-table.ts';
import { Placement } from './placement.ts';
import { PodMoves } from './pod-moves.ts';
import { replacePolicy } from './policy-groups.ts';
import { namespaceOf, PolicyReader } from './policy-reader.ts';
import type { NamespaceState, PodState } from './state.ts';
import { TargetTable } from './target-table.ts';
import type { Selection } from './templates.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './types.ts';
import type { ReadFailure } from './watched.ts';

export interface PolicyIndexOptions {
  readonly facts: FactStore;
  readonly settings: LocalSettings;
  /** Whom facts are told; absent: the store. */
  readonly writer?: FactWriter | undefined;
  /** Where domain names of rules are counted; absent: only these rules have any. */
  readonly domains?: DomainSets | undefined;
  readonly onFailure?: (() => void) | undefined;
  /** The secondary network whose attachments are targets and peers; absent: each namespace's own network. */
  readonly secondary?: string | undefined;
}

export class PolicyIndex {
  readonly #facts: FactStore;
  readonly #writer: FactWriter;
  readonly #secondary: string | undefined;
  readonly #view: TrackedView;
  readonly #known = new Map<string, PolicyNamespace>();
  /** With those that are gone before their pods, which stay subjects of administrators' policies. */
  readonly #labelled = new Map<string, PolicyNamespace>();
  /** Of namespaces with pods or policies. */
  readonly #states = new Map<string, NamespaceState>();
  readonly #peers: PeerTable;
  readonly #targets: TargetTable;
  readonly #failures: Failures;
  readonly #admin: AdminTable;
  readonly #moves: PodMoves;
  /** While `together` runs: by object, whose namespaces are settled at its end. */
  #unsettled: Map<string, NamespaceState> | undefined;
  readonly reader: PolicyReader;

  constructor({
    facts,
    settings,
    writer = facts,
    domains = new DomainTable(facts),
    onFailure = () => undefined,
    secondary,
  }: PolicyIndexOptions) {
    this.#facts = facts;
    this.#writer = writer;
    this.#secondary = secondary;
    this.#failures = new Failures(onFailure);
    this.#view = new TrackedView(facts, settings);
    const namespaces = this.#known;
    this.#peers = new PeerTable({
      ...{ facts: writer, namespaces },
      podsOf: (namespace) => this.#states.get(namespace)?.pods,
      placementOf: (namespace) => this.#states.get(namespace)?.placement,
      onGrown: (selection) => this.#markUsers(selection),
    });
    this.#targets = new TargetTable({
      ...{ facts: writer, namespaces, peers: this.#peers },
      stateOf: (name) => this.#states.get(name),
      failures: this.#failures,
      isClosed: (pod) => this.#isClosed(pod),
      isWaiting: (pod) => this.#isWaiting(pod.pod.namespace),
    });
    this.#admin = new AdminTable({
      ...{ facts: writer, watchedFacts: facts, view: this.#view, cluster: settings.cluster },
      ...{ namespaces: this.#labelled, peers: this.#peers, domains, onFailure },
      placementOf: (namespace) => this.#states.get(namespace)?.placement,
      settle: () => this.#settleAdmin(),
      setSubjects: (pod, sets) => this.#targets.setSubjects(pod, sets),
      attempt: (pod, run) => this.#attempt(pod, run),
      onClosing: (pods) => this.#targets.markPods(pods),
    });
    this.reader = new PolicyReader({
      ...{ states: this.#states, targets: this.#targets, peers: this.#peers, failures: this.#failures },
    });
    this.#moves = new PodMoves({
      ...{ targets: this.#targets, peers: this.#peers, admin: this.#admin },
      groupsOf: ({ pod: { namespace } }, pod) => {
        const state = this.#states.get(namespace);
        return state === undefined ? [] : groupsOf(state, pod);
      },
    });
  }

  /** Undefined when the policy is gone. @param key `namespace/name` */
  changePolicy(key: string, after: PolicyProjection | undefined): void {
    this.#retry();
    const state = this.#ensure(namespaceOf(key), policyObject(key));
    if (state === undefined) return;
    this.#follow(state, policyObject(key), () => {
      replacePolicy(this.#targets, state, key, after);
    });
  }

  /**
   * Policies that `follow` says of are settled once, when all are there: with each of them its targets would be written anew, and every peer
   * that it has. To be used for policies alone: whether a pod that it says of is decided would not be known in time.
   */
  together<Result>(follow: () => Result): Result {
    const unsettled = new Map<string, NamespaceState>();
    this.#unsettled = unsettled;
    try {
      return follow();
    } finally {
      this.#unsettled = undefined;
      // The first one settles all. Where it fails, each closes its own pods, as when they come one after the other.
      for (const [object, state] of unsettled) this.#settle(state, object);
    }
  }

  /** Undefined when the pod is gone. @param key `namespace/name` */
  changePod(key: string, given: PolicyPod | undefined): void {
    this.#retry();
    const after = given && evaluatedPod(key, given, this.#facts.get('pod', key));
    const state = this.#ensure(namespaceOf(key), podObject(key));
    if (state === undefined) return;
    const known = state.pods.get(key);
    const before = known?.pod;
    if (after !== undefined || known !== undefined) {
      const pod = putPod(state, key, after, known);
      const change = (): void => {
        state.placement.use(after?.addresses.keys() ?? []);
        try {
          this.#moves.move(pod, before, after);
        } finally {
          state.placement.unuse(before?.addresses.keys() ?? []);
          // By what is so of its namespace since before it came.
          if (this.#isClosed(pod) || this.#isWaiting(state.name)) this.#targets.markPods([pod]);
        }
      };
      this.#followPod(pod, change);
      this.#settle(state, podObject(key));
      if (after === undefined) this.#failures.forget(state.name, podObject(key));
    } else this.#settle(state, podObject(key));
    const now = state.pods.get(key);
    // Last: without it the pod gets no port.
    const isDecided = after?.isLocal === true && now !== undefined && this.#targets.isDecided(now);
    if (isDecided) this.#writer.set('decidedPod', key, true);
    else if (before?.isLocal === true) this.#writer.set('decidedPod', key, undefined);
  }

  /** Undefined when the namespace is gone. */
  changeNamespace(name: string, after: PolicyNamespace | undefined): void {
    this.#retry();
    const before = this.#known.get(name);
    const wasWaiting = this.#isWaiting(name);
    const state = this.#states.get(name);
    if (after === undefined) this.#known.delete(name);
    else this.#known.set(name, after);
    if (after !== undefined) this.#labelled.set(name, after);
    else if (state === undefined || state.pods.size === 0) this.#labelled.delete(name);
    if (state === undefined) {
      this.#failures.forget(name, namespaceObject(name));
      this.#failures.isFailing(name, namespaceObject(name), () =>
        inTurn([() => this.#peers.changeNamespace(name), () => this.#admin.changeNamespace(name)]),
      );
      this.#settleAdmin();
      return;
    }
    this.#follow(state, namespaceObject(name), () => {
      const isElsewhere = this.#peers.changeNamespace(name);
      const isSubject = this.#admin.changeNamespace(name);
      if (isElsewhere || isSubject) this.#moveAll(state);
      if (!isSameLog(before?.log, after?.log)) this.#markAll(state);
      if (wasWaiting) this.#targets.markPods(state.pods.values());
    });
  }

  /** Undefined when the policy is gone. @param key `AdminNetworkPolicy/name` */
  changeAdminPolicy(key: string, after: AdminProjection | undefined): void {
    this.#retry();
    const { hasPolicies } = this.#admin;
    this.#admin.changePolicy(key, after);
    if (hasPolicies !== this.#admin.hasPolicies)
      for (const { name, pods } of this.#states.values())
        if (!this.#labelled.has(name)) this.#targets.markPods(pods.values());
    this.#settleAdmin();
  }

  /** Undefined when the node is gone. */
  changeNode(name: string, after: PolicyNode | undefined): void {
    this.#retry();
    this.#admin.changeNode(name, after);
    this.#settleAdmin();
  }

  problems(): Problem[] {
    const ofNamespaces = this.#known.values().flatMap(({ problems }) => problems);
    return [...this.reader.problems(), ...ofNamespaces, ...this.#admin.problems(), ...this.#failures.problems()];
  }

  /** What could not be followed because of an error of the agent's own; `problems` has it, too. */
  failed(): Problem[] {
    return [...this.#failures.problems(), ...this.#admin.failed()];
  }

  /** It looks at nothing any more, and its facts stay. */
  stop(): void {
    inTurn([
      ...this.#states.values().map(
        ({ placement }) =>
          () =>
            placement.stop(),
      ),
      () => this.#admin.stop(),
    ]);
  }

  /** Undefined: it failed, and whoever comes later is closed by that. @param object that is about to change */
  #ensure(name: string, object: string): NamespaceState | undefined {
    if (!this.#states.has(name))
      this.#failures.isFailing(name, object, () => {
        const onChange = (failure: ReadFailure | undefined): void => this.#replace(state, failure);
        const placed = { namespace: name, secondary: this.#secondary };
        const placement = new Placement(placed, { facts: this.#facts, view: this.#view, onChange });
        const state = newNamespace(name, placement);
        this.#states.set(name, state);
      });
    return this.#states.get(name);
  }

  /** Its pods are on another network now, or their addresses are. */
  #replace(state: NamespaceState, failure: ReadFailure | undefined): void {
    this.#follow(state, namespaceObject(state.name), () => {
      if (failure !== undefined) throw failure.error;
      this.#markAll(state);
      this.#moveAll(state);
    });
  }

  #moveAll({ pods }: NamespaceState): void {
    for (const pod of pods.values()) this.#followPod(pod, () => this.#moves.move(pod, pod.pod, pod.pod));
  }

  /** What throws closes this pod alone. */
  #followPod(pod: PodState, change: () => void): void {
    const { namespace } = pod.pod;
    const object = podObject(pod.key);
    const hadFailed = this.#failures.forget(namespace, object);
    const isFailing = this.#failures.isFailing(namespace, object, () => {
      change();
      if (hadFailed) this.#targets.restorePods([pod]);
    });
    if (hadFailed || isFailing) this.#targets.markPods([pod]);
  }

  #isClosed(pod: PodState): boolean {
    return this.#failures.isClosed(pod.pod.namespace, pod.key) || this.#admin.isClosed(pod);
  }

  /** Whether an administrator's policy is about pods of a namespace follows from its labels: until they are known, no pod is decided. */
  #isWaiting(namespace: string): boolean {
    return this.#admin.hasPolicies && !this.#labelled.has(namespace);
  }

  #attempt(pod: PodState, run: () => void): void {
    if (!this.#failures.isFailing(pod.pod.namespace, podObject(pod.key), run)) return;
    this.#moves.fail(pod);
    this.#targets.markPods([pod]);
  }

  /** Before the next event: what failed then is not tried again before that. */
  #retry(): void {
    this.#admin.retry();
    const pod = this.#moves.failed;
    if (pod === undefined) return;
    const { namespace } = pod.pod;
    const state = this.#states.get(namespace);
    if (state?.pods.get(pod.key) === pod) {
      this.#followPod(pod, () => this.#moves.move(pod, pod.pod, pod.pod));
      this.#settle(state, podObject(pod.key));
      return;
    }
    this.#moves.end(pod);
  }

  /** It looks at all policies, and is called when a selection has twice as many members as before. */
  #markUsers({ text }: Selection): void {
    for (const { policies } of this.#states.values())
      for (const policy of policies.values()) if (policy.members.has(text)) this.#targets.markPolicy(policy);
  }

  #markAll(state: NamespaceState): void {
    for (const policy of state.policies.values()) this.#targets.markPolicy(policy);
    for (const { members } of state.groups.values()) this.#targets.markTargets(members);
  }

  /** What throws closes the pods that it may be about, and the next one of the same object opens them. */
  #follow(state: NamespaceState, object: string, change: () => void): void {
    const hadFailed = this.#failures.forget(state.name, object);
    const isFailing = this.#failures.isFailing(state.name, object, () => {
      change();
      if (hadFailed) this.#restore(state);
    });
    if (hadFailed || isFailing) this.#targets.markPods(state.pods.values());
    this.#settle(state, object);
  }

  #restore(state: NamespaceState): void {
    this.#moveAll(state);
    this.#targets.restore(state);
  }

  #settleAll(): void {
    inTurn([() => this.#admin.settle(), () => this.#targets.settle(), () => this.#peers.flush()]);
    this.#failures.forget(NO_NAMESPACE, ALL_POLICIES);
  }

  /** What could not be settled is so with the next event. */
  #settleAdmin(): void {
    this.#failures.isFailing(NO_NAMESPACE, ALL_POLICIES, () => this.#settleAll());
  }

  #settle(state: NamespaceState, object: string): void {
    if (this.#unsettled !== undefined) {
      this.#unsettled.set(object, state);
      return;
    }
    if (this.#failures.isFailing(state.name, object, () => this.#settleAll())) {
      this.#targets.markPods(state.pods.values());
      this.#failures.isFailing(state.name, object, () => this.#targets.settle());
    }
    if (state.pods.size > 0) return;
    if (!this.#known.has(state.name) && this.#labelled.delete(state.name))
      this.#failures.isFailing(NO_NAMESPACE, ALL_POLICIES, () => this.#admin.changeNamespace(state.name));
    if (state.policies.size > 0) return;
    state.placement.stop();
    this.#states.delete(state.name);
  }
}
