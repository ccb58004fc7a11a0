/** A case: objects step by step, and what a person says that they do, against which the evaluator is tested. */
import type { Labels, Peer, Policy, PolicySpec } from './types.ts';

export const CASE_NAMESPACES = ['x', 'y', 'z'] as const;
export type CaseNamespace = (typeof CASE_NAMESPACES)[number];
export const CASE_PODS = ['a', 'b', 'c'] as const;
export const CASE_PORTS = [80, 81] as const;

/** Where a case is played: `x` is a namespace with another name on each network. */
export interface Place {
  readonly namespace: (name: CaseNamespace) => string;
  /** A block for each address of the pod, of one address or the large one around it. @param pod `x/a` */
  readonly blocks: (pod: string, size: 'address' | 'large') => readonly string[];
}

export interface CaseStep {
  readonly policies: readonly Policy[];
  /** More labels than they have at first, by `y` and by `x/a`. */
  readonly namespaceLabels?: Readonly<Record<string, Labels>>;
  readonly podLabels?: Readonly<Record<string, Labels>>;
  /** By `TCP 80`. What none of these says is allowed; the last one that fits decides. */
  readonly expected: Readonly<Record<string, readonly Expectation[]>>;
}

/** `*`, `x/*` or `x/a`. */
export type Expectation = readonly [from: string, to: string, isAllowed: boolean];

export interface PolicyCase {
  /** As in Kubernetes' test/e2e/network/netpol/network_policy.go (v1.36). */
  readonly title: string;
  readonly steps: (place: Place) => readonly CaseStep[];
}

export const fits = (pattern: string, pod: string): boolean =>
  pattern === '*' || pattern === pod || (pattern.endsWith('/*') && pod.startsWith(pattern.slice(0, -1)));

export const policy = (namespace: string, name: string, spec: PolicySpec): Policy => ({ namespace, name, spec });

/** `POD=a` and the like. */
export const pods = (...names: readonly string[]): { readonly podSelector: { readonly matchLabels: Labels } }[] =>
  names.map((pod) => ({ podSelector: { matchLabels: { pod } } }));

export const POD_A = { matchLabels: { pod: 'a' } } as const;
export const EVERY = {} as const;

/** By the label that Kubernetes gives every namespace. */
export const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

export const namedNamespace = (name: string): Peer => ({
  namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: name } },
});

export const notNamespace = (name: string): Peer => ({
  namespaceSelector: { matchExpressions: [{ key: NAMESPACE_NAME, operator: 'NotIn', values: [name] }] },
});

/** From everybody to `x/a` nothing, but from these. */
export const onlyToA = (...from: readonly string[]): Expectation[] => [
  ['*', 'x/a', false],
  ...from.map((one): Expectation => [one, 'x/a', true]),
];

export const onlyFromA = (...to: readonly string[]): Expectation[] => [
  ['x/a', '*', false],
  ...to.map((one): Expectation => ['x/a', one, true]),
];
