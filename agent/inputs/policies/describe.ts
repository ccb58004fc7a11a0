/** What people ask of policies: what one allows here, who has a rule, and why a pod is isolated. Nothing of it is kept between questions. */
import type { NetworkPolicy, PolicyType } from '../../../api/network-policy.ts';
import { FAMILIES } from '../../../net/ip.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import type { Problem } from '../problem.ts';
import { namedPeers, numberOf } from './compile.ts';
import type { Site } from './placement.ts';
import type { PolicyState } from './state.ts';
import { MAX_NUMBERS, type PortName, portNameText, type Selection } from './templates.ts';

export interface PolicyDescription {
  /** Absent: a NetworkPolicy. */
  readonly kind?: 'MultiNetworkPolicy' | undefined;
  readonly policy: NetworkPolicy;
  /** Absent while its namespace waits for a primary network. Of a MultiNetworkPolicy all that it is for. */
  readonly network?: string | undefined;
  /** Pods of this node that it selects, as `namespace/name`; of a MultiNetworkPolicy as `attachmentId`. */
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

/** Numbers that peers have for a port. */
type CountNumbers = (network: string, selection: Selection, port: PortName) => number;

/** What of a policy cannot be followed, though it can be read. Only of one with targets on this node. */
export const notesOf = (state: PolicyState, site: Site, countNumbers: CountNumbers): Problem[] => {
  const { network, families } = site;
  if (network === undefined || state.group.members.size === 0) return [];
  if (state.excess !== undefined) return [overBudget(state.key, state.excess)];
  const numbersOf = (selection: Selection, port: PortName): number => countNumbers(network, selection, port);
  const messages = new Set([
    ...lackedFamilies(state, families),
    ...(site.hasNoIpam === true ? selectorNotes(state) : []),
    ...portNotes(state, numbersOf),
  ]);
  return [...messages].map((message) => ({ object: `NetworkPolicy/${state.key}`, severity: 'warning', message }));
};

const overBudget = (key: string, excess: string): Problem => ({
  object: `NetworkPolicy/${key}`,
  message: `with the policies before it by name its namespace has ${excess} on this node; the policy isolates its pods and allows nothing`,
});

const lackedFamilies = ({ templates = [] }: PolicyState, families: Site['families']): string[] =>
  FAMILIES.filter((family) => !families.includes(family)).flatMap((family) => {
    const isNamed = templates.some(({ peers }) => peers.kind === 'blocks' && peers.blocks.has(family));
    return isNamed ? [`its ipBlocks of IPv${family} match nothing: the network has no IPv${family} addresses`] : [];
  });

const selectorNotes = ({ templates = [] }: PolicyState): string[] => {
  const peers = templates.flatMap((template) => (template.peers.kind === 'pods' ? template.peers.selection.text : []));
  return [...new Set(peers)].map(
    (text) => `${text} are no peers: the network has no IPAM, so no address of a pod is known`,
  );
};

const portNotes = (
  { templates = [], group }: PolicyState,
  numbersOf: (selection: Selection, port: PortName) => number,
): string[] =>
  templates.flatMap(({ direction, peers, ports }) =>
    (ports?.named ?? []).flatMap((port): string | readonly string[] => {
      const name = `port ${portNameText(port)}`;
      if (direction === 'Ingress') {
        const isKnown = group.members.values().some(({ pod }) => numberOf(port, pod.ports) !== undefined);
        return isKnown ? [] : `no pod of this node that it selects has a ${name}`;
      }
      const selection = namedPeers(peers);
      if (selection === undefined) return `${name} has no number for an ipBlock, and allows nothing there`;
      const numbers = numbersOf(selection, port);
      if (numbers > MAX_NUMBERS)
        return `peers have ${numbers} numbers for ${name}: the ${MAX_NUMBERS} of most pods are allowed`;
      return numbers > 0 ? [] : `no peer has a ${name}`;
    }),
  );

const byPolicy = (a: IsolatingPolicy, b: IsolatingPolicy): number => (a.policy < b.policy ? -1 : 1);
