/** Policies whose rules have an order, as the API has them: those of administrators where somebody has installed their definitions, and firewalls. */
import { ADMIN_POLICIES, adminPolicyKey } from '../../api/admin-network-policy.ts';
import type { RankedKind } from '../../api/admin-policy/types.ts';
import type { NameReading } from '../../api/policy-names.ts';
import { EGRESS_FIREWALLS } from '../../api/resources.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ObjectCache, Reflector, ReflectorOptions } from '../../kube/reflector/types.ts';
import type { ResourceType } from '../../kube/types.ts';
import { type AdminProjection, badAdminPolicy, projectAdminPolicy } from './policies/admin/admin-projection.ts';
import type { PolicyIndex } from './policies/policy-index.ts';
import type { Problem } from './problem.ts';

export const RANKED_POLICIES = [...ADMIN_POLICIES, EGRESS_FIREWALLS] as const;

/** By kind. Absent: there are none. */
export type AdminCaches = { readonly [Kind in RankedKind]?: ObjectCache<AdminProjection> };

interface AdminInputs {
  readonly caches: AdminCaches;
  /** By plural. */
  readonly reflectors: Readonly<Record<string, Reflector<AdminProjection>>>;
  /** Those that nobody can read. */
  problems(): Problem[];
}

type Common = Omit<ReflectorOptions<AdminProjection>, 'project' | 'optional'>;

export const createAdminInputs = (common: (resource: ResourceType) => Common, names: NameReading): AdminInputs => {
  const all = RANKED_POLICIES.map((resource) => {
    const { kind, plural } = resource;
    const project = (object: unknown): AdminProjection => projectAdminPolicy(kind, object, names);
    const options = { ...common(resource), project, optional: true, timings: { absentMs: ABSENT_MS } };
    return { kind, plural, reflector: createReflector(options) };
  });
  return {
    caches: Object.fromEntries(all.map(({ kind, reflector }) => [kind, reflector])),
    reflectors: Object.fromEntries(all.map(({ plural, reflector }) => [plural, reflector])),
    problems: () =>
      all.flatMap(({ kind, reflector }) => [
        ...reflector.bad.values().map(({ key, reason }) => badAdminPolicy({ kind, name: key }, reason)),
      ]),
  };
};

/** Most clusters have no such definitions, and each agent asks for them. */
export const ABSENT_MS = 60_000;

/** @returns what ends it */
export const followAdminPolicies = (
  index: Pick<PolicyIndex, 'changeAdminPolicy'>,
  caches: AdminCaches,
): (() => void) => {
  const subscriptions = RANKED_POLICIES.flatMap(({ kind }) => {
    const cache = caches[kind];
    const change = (name: string, after: AdminProjection | undefined): void =>
      index.changeAdminPolicy(adminPolicyKey({ kind, name }), after);
    return cache === undefined ? [] : [cache.subscribe(({ key, after }) => change(key, after))];
  });
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  };
};
