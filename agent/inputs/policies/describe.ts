/** What people ask of policies: what one allows here, who has a rule, and why a pod is isolated. Nothing of it is kept between questions. */
import type { NetworkPolicy, PolicyType } from '../../../api/network-policy.ts';
import { FAMILIES } from '../../../net/ip.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import type { Problem } from '../problem.ts';
import { numberOf } from './compile.ts';
import type { Site } from './placement.ts';
import type { PolicyState } from './state.ts';
import { portNameText } from './templates.ts';

export interface PolicyDescription {
  readonly policy: NetworkPolicy;
  /** Absent while its namespace waits for a primary network. */
  readonly network?: string | undefined;
  /** Pods of this node that it selects, as `namespace/name`. */
  readonly targets: readonly string[];
  /** Those that exist: they have a target on this node. */
  readonly rules: readonly DescribedRule[];
  readonly problems: readonly Problem[];
}

export interface DescribedRule {
  readonly id: string;
  readonly fact: PolicyRuleFact;
  /** How many pods are in its peer set, and what selects them. */
  readonly peers?: { readonly selects: string; readonly pods: number } | undefined;
}

/** Policies that select a pod, and in which directions each isolates it. */
export interface IsolatingPolicy {
  /** `namespace/name` */
  readonly policy: string;
  readonly types: readonly PolicyType[];
}

export const isolatingPolicies = (policies: Iterable<PolicyState>): IsolatingPolicy[] =>
  [...policies].map(({ key, projection: { policy } }) => ({ policy: key, types: policy.types })).sort(byPolicy);

/** What of a policy cannot be followed, though it can be read. Only of one with targets on this node. */
export const notesOf = (state: PolicyState, { network, families }: Site): Problem[] => {
  if (network === undefined || state.group.members.size === 0) return [];
  const messages = [...new Set([...lackedFamilies(state, families), ...unknownPorts(state)])];
  return messages.map((message) => ({ object: `NetworkPolicy/${state.key}`, severity: 'warning', message }));
};

const lackedFamilies = ({ templates }: PolicyState, families: Site['families']): string[] =>
  FAMILIES.filter((family) => !families.includes(family)).flatMap((family) => {
    const isNamed = templates.some(({ peers }) => peers.kind === 'blocks' && peers.blocks.has(family));
    return isNamed ? [`its ipBlocks of IPv${family} match nothing: the network has no IPv${family} addresses`] : [];
  });

const unknownPorts = ({ templates, group, rules }: PolicyState): string[] =>
  templates.flatMap(({ direction, peers, ports }) =>
    (ports?.named ?? []).flatMap((port) => {
      const name = `port ${portNameText(port)}`;
      if (direction === 'Ingress') {
        const isKnown = group.members.values().some(({ pod }) => numberOf(port, pod.ports) !== undefined);
        return isKnown ? [] : [`no pod of this node that it selects has a ${name}`];
      }
      if (peers.kind === 'blocks') return [`${name} has no number for an ipBlock, and allows nothing there`];
      const isKnown = rules
        .values()
        .some(({ set }) => set?.port?.name === port.name && set.port.protocol === port.protocol);
      return isKnown ? [] : [`no peer has a ${name}`];
    }),
  );

const byPolicy = (a: IsolatingPolicy, b: IsolatingPolicy): number => (a.policy < b.policy ? -1 : 1);
