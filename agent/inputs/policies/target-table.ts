/**
 * What policies make of the pods of this node: whether they are isolated, and which rules they hold.
 * Over 300 lines: policies, their groups and the pods in these follow from each other, and are settled together.
 */
import type { FactWriter } from '../../model/fact-store.ts';
import type { PodPolicyFact } from '../../model/policies/facts.ts';
import { denyGroupId } from '../../model/policies/ids.ts';
import { denyGroupOf, logOf } from './acl-log.ts';
import { type CompiledRule, compileForTarget, compileTemplate, type RuleSite } from './compile.ts';
import { MAX_MEMBERS, sizeOf } from './cost.ts';
import { drained } from './drained.ts';
import { type Failures, podObject, policyObject } from './failures.ts';
import { HeldRules } from './held-rules.ts';
import { isolatedIn } from './namespace-pods.ts';
import type { PeerTable } from './peer-table.ts';
import { PolicyBudgets } from './policy-budgets.ts';
import { RuleTable } from './rule-table.ts';
import type { NamespaceState, PodState, PolicyState, TargetGroup, TargetState } from './state.ts';
import type { PolicyNamespace } from './types.ts';
import { mayHaveTooMany, membersOf, recountRules, unfold } from './unfold.ts';

interface TargetTableOptions {
  readonly facts: FactWriter;
  readonly peers: PeerTable;
  readonly namespaces: ReadonlyMap<string, PolicyNamespace>;
  readonly stateOf: (namespace: string) => NamespaceState | undefined;
  readonly failures: Failures;
  readonly isClosed: (pod: PodState) => boolean;
  readonly isWaiting: (pod: PodState) => boolean;
}

export class TargetTable {
  readonly #options: TargetTableOptions;
  readonly #rules: RuleTable;
  readonly #stalePolicies = new Set<PolicyState>();
  readonly #staleTargets = new Set<PodState>();
  readonly #budgets = new PolicyBudgets();

  constructor(options: TargetTableOptions) {
    this.#options = options;
    this.#rules = new RuleTable(options.facts, options.peers);
  }

  markPolicy(policy: PolicyState): void {
    this.#stalePolicies.add(policy);
  }

  markTargets(states: Iterable<PodState>): void {
    for (const state of states) if (state.target !== undefined) this.#staleTargets.add(state);
  }

  /** Whether they are closed may be different now. */
  markPods(states: Iterable<PodState>): void {
    for (const state of states) {
      if (!state.pod.isLocal || state.pod.finished) continue;
      state.target ??= this.#newTarget();
      this.#staleTargets.add(state);
    }
  }

  /** After a failure nobody knows what had been done of a change: rules follow from the policies anew. */
  restore({ groups, pods }: NamespaceState): void {
    for (const group of groups.values()) {
      recountRules(group);
      for (const policy of group.policies) this.markPolicy(policy);
    }
    this.restorePods(pods.values());
    this.markPods(pods.values());
  }

  restorePods(pods: Iterable<PodState>): void {
    for (const { target } of pods) if (target !== undefined) this.#restoreTarget(target);
  }

  /** The groups that a pod of this node is in are these now. */
  move(state: PodState, groups: readonly TargetGroup[]): void {
    const before = state.target?.groups;
    const after = new Set(groups);
    for (const group of before ?? []) if (!after.has(group)) this.leave(group, state);
    for (const group of groups) if (before?.has(group) !== true) this.join(group, state);
    this.markTargets([state]);
  }

  join(group: TargetGroup, state: PodState): void {
    // A policy has rules while it has a target.
    if (group.members.size === 0) for (const policy of group.policies) this.markPolicy(policy);
    group.members.add(state);
    state.target ??= this.#newTarget();
    const own = state.target;
    own.groups.add(group);
    for (const { rule } of group.rules.values()) own.held.hold(rule);
    this.markTargets([state]);
  }

  leave(group: TargetGroup, state: PodState): void {
    group.members.delete(state);
    state.target?.groups.delete(group);
    for (const id of group.rules.keys()) state.target?.held.drop(id);
    this.markTargets([state]);
    if (group.members.size === 0) for (const policy of group.policies) this.markPolicy(policy);
  }

  /** The subject sets that a pod of this node is in are these now, sorted. */
  setSubjects(state: PodState, subjects: readonly string[]): void {
    if (subjects.length === 0 && state.target === undefined) return;
    state.target ??= this.#newTarget();
    state.target.subjects = subjects;
    this.markTargets([state]);
  }

  add(policy: PolicyState): void {
    const { group } = policy;
    group.policies.add(policy);
    for (const direction of policy.projection.policy.types) group.isolating[direction] += 1;
    this.markPolicy(policy);
    this.markTargets(group.members);
  }

  /** What it gave to its group ends with it. */
  end(policy: PolicyState): void {
    const { group } = policy;
    group.policies.delete(policy);
    group.named.delete(policy);
    for (const direction of policy.projection.policy.types) group.isolating[direction] -= 1;
    this.#stalePolicies.delete(policy);
    this.#budgets.use(policy, false);
    this.#install(policy, new Map());
    for (const unwatch of policy.unwatch.splice(0)) unwatch();
    this.markTargets(group.members);
  }

  settle(): void {
    while (this.#stalePolicies.size > 0 || this.#staleTargets.size > 0 || this.#budgets.hasChanged) {
      for (const policy of this.#stalePolicies) this.#budgets.use(policy, policy.group.members.size > 0);
      for (const policy of this.#budgets.settle()) this.markPolicy(policy);
      for (const policy of drained(this.#stalePolicies)) this.#compileOrClose(policy);
      for (const state of drained(this.#staleTargets)) this.#publishOrClose(state);
    }
    this.#rules.flush();
  }

  /** Not one of which nothing could be said: settling has failed before. */
  isDecided(state: PodState): boolean {
    if (this.#staleTargets.has(state)) state.isUndecided = true;
    return state.isUndecided !== true;
  }

  /** One that fails must not keep others from being compiled, nor its own pods open. */
  #compileOrClose(policy: PolicyState): void {
    const { namespace } = policy.projection.policy;
    const { failures, stateOf } = this.#options;
    const isFailing = failures.isFailing(namespace, policyObject(policy.key), () => this.#compile(policy));
    if (isFailing) this.markPods(stateOf(namespace)?.pods.values() ?? []);
  }

  #publishOrClose(state: PodState): void {
    const { failures, isWaiting } = this.#options;
    const isFailing = (): boolean =>
      failures.isFailing(state.pod.namespace, podObject(state.key), () => this.#publish(state));
    const isUndecided = (isFailing() && isFailing()) || isWaiting(state);
    if (isUndecided === (state.isUndecided === true)) return;
    state.isUndecided = isUndecided ? true : undefined;
    this.#options.facts.set('decidedPod', state.key, isUndecided || !state.pod.isLocal ? undefined : true);
  }

  #restoreTarget(target: TargetState): void {
    const before = target.held;
    target.held = new HeldRules(this.#rules);
    target.named = new Map();
    for (const { rules } of target.groups) for (const { rule } of rules.values()) target.held.hold(rule);
    before.end();
  }

  #isClosed(state: PodState): boolean {
    const { namespace, isLocal, finished } = state.pod;
    const isThere = isLocal && !finished && this.#options.stateOf(namespace)?.pods.has(state.key) === true;
    return isThere && this.#options.isClosed(state);
  }

  #newTarget(): TargetState {
    const held = new HeldRules(this.#rules);
    return { groups: new Set(), held, named: new Map(), denyGroup: undefined, subjects: [] };
  }

  /** All rules of a policy that exist, with those of its targets' named ports. */
  rulesOf(policy: PolicyState): ReadonlyMap<string, CompiledRule> {
    const rules = new Map(policy.rules);
    for (const { pod } of policy.group.members)
      for (const rule of this.#rulesForTarget(policy, pod.ports)) rules.set(rule.id, rule);
    return rules;
  }

  #compile(policy: PolicyState): void {
    const isUsed = policy.group.members.size > 0 && policy.excess === undefined;
    const site = isUsed ? this.#siteOf(policy) : undefined;
    const hadNamed = policy.perTarget.length > 0;
    const { peers } = this.#options;
    let templates = unfold(policy, isUsed);
    const measure = (): void => {
      if (site !== undefined) this.#budgets.measure(policy, membersOf(policy, peers, site.network));
    };
    const isCounted = site !== undefined && mayHaveTooMany(policy, peers, site.network);
    if (isCounted) measure();
    // Its budget closes it next. To fill its sets before would cost as much as to keep them.
    if (isCounted && sizeOf(policy.members) > MAX_MEMBERS) templates = unfold(policy, false);
    const before = policy.unwatch;
    const unwatch: (() => void)[] = [];
    const rules = new Map<string, CompiledRule>();
    const onChange = (): void => this.markPolicy(policy);
    for (const template of site === undefined ? [] : templates) {
      const found = compileTemplate(template, site as RuleSite, (selection, port) => {
        const { network } = site as RuleSite;
        unwatch.push(() => peers.unwatch(network, selection, port, onChange));
        return peers.watch(network, selection, port, onChange);
      });
      for (const rule of found) rules.set(rule.id, rule);
    }
    policy.unwatch = unwatch;
    for (const end of before) end();
    this.#install(policy, rules);
    // Its sets know now how many pods they have: to count these before would be to look for them twice.
    if (!isCounted) measure();
    if (hadNamed || policy.perTarget.length > 0) this.markTargets(policy.group.members);
  }

  /** Only what its group did not have, or has not any more, concerns the targets. */
  #install(policy: PolicyState, rules: ReadonlyMap<string, CompiledRule>): void {
    const { group, rules: before } = policy;
    // If something of it fails, all that may have been given ends with the policy.
    policy.rules = new Map([...before, ...rules]);
    for (const [id, rule] of rules) {
      if (before.has(id)) continue;
      const known = group.rules.get(id);
      if (known !== undefined) known.uses += 1;
      else {
        group.rules.set(id, { rule, uses: 1 });
        for (const { target } of group.members) target?.held.hold(rule);
        this.markTargets(group.members);
      }
    }
    for (const id of before.keys()) {
      const known = rules.has(id) ? undefined : group.rules.get(id);
      if (known === undefined) continue;
      known.uses -= 1;
      if (known.uses > 0) continue;
      group.rules.delete(id);
      for (const { target } of group.members) target?.held.drop(id);
      this.markTargets(group.members);
    }
    policy.rules = rules;
  }

  #siteOf({ key, projection: { policy } }: PolicyState): RuleSite | undefined {
    const site = this.#options.stateOf(policy.namespace)?.placement.site;
    if (site?.network === undefined) return undefined;
    const severity = this.#options.namespaces.get(policy.namespace)?.log?.allow;
    const { network, families } = site;
    return { network, families, stateless: policy.stateless, log: (direction) => logOf(key, direction, severity) };
  }

  #publish(state: PodState): void {
    const { target } = state;
    if (target === undefined) return;
    const isClosed = this.#isClosed(state);
    if (!isClosed) this.#holdNamed(state, target);
    const network = this.#options.stateOf(state.pod.namespace)?.placement.site.network;
    this.#options.facts.set('podPolicy', state.key, this.#factOf(state, target, network, isClosed));
    if (target.groups.size === 0 && target.subjects.length === 0 && !isClosed) state.target = undefined;
  }

  #holdNamed({ pod }: PodState, target: TargetState): void {
    const named = new Map<string, CompiledRule>();
    for (const group of target.groups)
      for (const policy of group.named)
        for (const rule of this.#rulesForTarget(policy, pod.ports)) named.set(rule.id, rule);
    for (const [id, rule] of named) if (!target.named.has(id)) target.held.hold(rule);
    for (const id of target.named.keys()) if (!named.has(id)) target.held.drop(id);
    target.named = named;
  }

  #rulesForTarget(policy: PolicyState, ports: PodState['pod']['ports']): CompiledRule[] {
    const site = policy.perTarget.length === 0 ? undefined : this.#siteOf(policy);
    return site === undefined ? [] : policy.perTarget.flatMap((template) => compileForTarget(template, site, ports));
  }

  #factOf(
    { pod }: PodState,
    target: TargetState,
    network: string | undefined,
    isClosed: boolean,
  ): PodPolicyFact | undefined {
    const isolated = network === undefined ? [] : isolatedIn(target, isClosed);
    const severity = this.#options.namespaces.get(pod.namespace)?.log?.deny;
    const group =
      network !== undefined && isolated.length > 0 ? denyGroupOf(network, pod.namespace, severity) : undefined;
    const id = group && denyGroupId(group);
    if (id !== target.denyGroup) {
      if (id !== undefined && group !== undefined) this.#rules.acquireDenyGroup(id, group);
      if (target.denyGroup !== undefined) this.#rules.releaseDenyGroup(target.denyGroup);
      target.denyGroup = id;
    }
    if (network === undefined || (id === undefined && target.subjects.length === 0)) return undefined;
    const { held, subjects } = target;
    const fact = { network, isolated, denyGroup: id ?? '' };
    // In no subject set either: what an administrator allows there would open it.
    if (isClosed) return { ...fact, rules: [], isClosed: true };
    return { ...fact, rules: held.ids, ...(subjects.length > 0 && { subjects }) };
  }
}
