/** What the index holds, for people: it may look at all policies. */

import type { Problem } from '../problem.ts';
import { type IsolatingPolicy, isolatingPolicies, notesOf, type PolicyDescription } from './describe.ts';
import { type Failures, policyObject } from './failures.ts';
import type { PeerTable } from './peer-table.ts';
import type { Site } from './placement.ts';
import type { NamespaceState, PolicyState } from './state.ts';
import type { TargetTable } from './target-table.ts';

interface PolicyReaderOptions {
  readonly states: ReadonlyMap<string, NamespaceState>;
  readonly targets: Pick<TargetTable, 'rulesOf'>;
  readonly peers: Pick<PeerTable, 'sizeOf' | 'numbersOf'>;
  readonly failures: Failures;
}

export class PolicyReader {
  readonly #options: PolicyReaderOptions;

  constructor(options: PolicyReaderOptions) {
    this.#options = options;
  }

  problems(): Problem[] {
    const problemsOf = ({ policies, placement }: NamespaceState): Problem[] =>
      [...policies.values()].flatMap((policy) => [
        ...policy.projection.problems,
        ...this.#notesOf(policy, placement.site),
      ]);
    return [...this.#options.states.values().flatMap(problemsOf)];
  }

  /** @param key `namespace/name` */
  describePolicy(key: string): PolicyDescription | undefined {
    const { states, targets, peers, failures } = this.#options;
    const state = states.get(namespaceOf(key));
    const policy = state?.policies.get(key);
    if (state === undefined || policy === undefined) return undefined;
    const { site } = state.placement;
    const rules = [...targets.rulesOf(policy).values()].map(({ id, fact, set }) => ({
      ...{ id, fact },
      ...(set && { peers: { selects: set.selects, pods: peers.sizeOf(set) } }),
    }));
    return {
      policy: policy.projection.policy,
      network: site.network,
      targets: [...policy.group.members].map((member) => member.key).sort(),
      rules,
      problems: [
        ...policy.projection.problems,
        ...this.#notesOf(policy, site),
        ...failures.problems(policyObject(key)),
      ],
    };
  }

  /** Keys of the policies that have a rule, sorted. */
  policiesOfRule(id: string): string[] {
    const { states, targets } = this.#options;
    const all = states.values().flatMap(({ policies }) => policies.values());
    return [...all.filter((policy) => targets.rulesOf(policy).has(id)).map(({ key }) => key)].sort();
  }

  /** Of a pod of this node. @param key `namespace/name` */
  isolating(key: string): IsolatingPolicy[] {
    const groups = this.#options.states.get(namespaceOf(key))?.pods.get(key)?.target?.groups;
    return isolatingPolicies(groups?.values().flatMap(({ policies }) => policies.values()) ?? []);
  }

  #notesOf(policy: PolicyState, site: Site): Problem[] {
    const { peers } = this.#options;
    return notesOf(policy, site, (network, selection, port) => peers.numbersOf(network, selection, port));
  }
}

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));
