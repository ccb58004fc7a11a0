/**
 * What the agent keeps of a NetworkPolicy. It never throws: a policy that cannot be read isolates the pods that it may be about and
 * allows nothing, and nothing else changes.
 */
import { hash } from 'node:crypto';
import {
  type NetworkPolicy,
  type PolicyKind,
  parseNetworkPolicy,
  readPolicyReach,
  STATELESS_ANNOTATION,
} from '../../../api/network-policy.ts';
import { type Problem, readOr } from '../problem.ts';
import { costOf, excessOf, NO_COST, POLICY_LIMITS } from './cost.ts';
import { MAX_PREFIXES, templatesOf } from './templates.ts';
import type { PolicyProjection } from './types.ts';

/** The parts that every object of the API has; what else is in it may be anything. */
export interface PolicyObject {
  readonly metadata: {
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid?: string | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** @param before as the same policy was projected before: a change of its other metadata works nothing out */
export const projectPolicy = (
  object: PolicyObject,
  before?: PolicyProjection,
  kind: PolicyKind = 'NetworkPolicy',
): PolicyProjection => {
  const { namespace = '', name, uid = '' } = object.metadata;
  const source = sourceOf(object);
  if (before?.source === source) return before;
  const problems: Problem[] = [];
  const key = `${kind}/${namespace}/${name}`;
  const policy = readOr(key, problems, () => parseNetworkPolicy(object, kind));
  const bounded = policy && withinBounds(policy);
  if (typeof bounded === 'string') problems.push({ object: key, message: bounded });
  else if (bounded !== undefined) return { ...bounded, source, problems: statelessNotes(object, key) };
  const reach = readPolicyReach('spec' in object ? object.spec : undefined);
  return closedPolicy({ namespace, name, uid, ...reach }, source, problems);
};

const NO_PROBLEMS: readonly Problem[] = [];

/** Its cause keeps it out of events: every node would write one, whether the policy selects pods there or not. */
const statelessNotes = ({ metadata: { annotations } }: PolicyObject, object: string): readonly Problem[] => {
  const value = annotations?.[STATELESS_ANNOTATION] ?? 'false';
  if (value === 'true' || value === 'false') return NO_PROBLEMS;
  const message = `annotation ${STATELESS_ANNOTATION}: ${JSON.stringify(value.slice(0, 40))} is neither "true" nor "false": its rules are stateful`;
  return [{ object, severity: 'warning', message, cause: 'object-unreadable' }];
};

/** It isolates the pods that it may be about, and allows nothing. */
export const closedPolicy = (
  { namespace, name, uid, podSelector, types }: Omit<NetworkPolicy, 'ingress' | 'egress' | 'stateless'>,
  source: string,
  problems: readonly Problem[],
): PolicyProjection => ({
  policy: { namespace, name, uid, podSelector, types, ingress: [], egress: [], stateless: false },
  problems: problems.map(closed),
  ...{ source, cost: NO_COST },
});

/** @returns what is too much, otherwise */
const withinBounds = (policy: NetworkPolicy): Omit<PolicyProjection, 'source' | 'problems'> | string => {
  const templates = templatesOf(policy);
  if (templates === undefined) return `spec: its ipBlocks make more than ${MAX_PREFIXES} prefixes`;
  const cost = costOf(templates);
  const excess = excessOf(cost, POLICY_LIMITS);
  return excess === undefined ? { policy, cost, templates: new WeakRef(templates) } : `spec: it has ${excess}`;
};

/** All that a projection is made of. Objects of different texts have different digests, whoever writes them. */
const sourceOf = (object: PolicyObject): string => {
  const { namespace, name, uid, annotations } = object.metadata;
  const spec = 'spec' in object ? object.spec : undefined;
  const parts = [namespace, name, uid, annotations?.[STATELESS_ANNOTATION], spec];
  return hash('sha256', JSON.stringify(parts), 'base64');
};

/** A message goes into events and logs, and names of unknown fields can be of any length. */
const MAX_FINDING = 400;

const closed = ({ message, ...problem }: Problem): Problem => {
  const finding = message.length > MAX_FINDING ? `${message.slice(0, MAX_FINDING)}...` : message;
  return { ...problem, message: `${finding}; the policy isolates its pods and allows nothing` };
};
