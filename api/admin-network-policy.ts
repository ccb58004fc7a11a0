/**
 * Policies of the cluster's administrators: AdminNetworkPolicy and BaselineAdminNetworkPolicy (policy.networking.k8s.io/v1alpha1)
 * and ClusterNetworkPolicy (v1alpha2), https://network-policy-api.sigs.k8s.io, read into one form.
 */
import { z } from 'zod';
import { subjectSchema } from './admin-policy/fields.ts';
import { type Reading, readRules } from './admin-policy/rules.ts';
import type { AdminPolicy, AdminPolicyKind } from './admin-policy/types.ts';
import { V1ALPHA1_EGRESS, V1ALPHA1_INGRESS } from './admin-policy/v1alpha1.ts';
import { V1ALPHA2_EGRESS, V1ALPHA2_INGRESS } from './admin-policy/v1alpha2.ts';
import { metadataSchema } from './object.ts';
import { parseWith } from './parse.ts';
import { type NameReading, NO_WILDCARDS } from './policy-names.ts';

/** Where they are served, as definitions that somebody has installed. */
export const ADMIN_POLICIES = [
  served('v1alpha1', 'adminnetworkpolicies', 'AdminNetworkPolicy'),
  served('v1alpha1', 'baselineadminnetworkpolicies', 'BaselineAdminNetworkPolicy'),
  served('v1alpha2', 'clusternetworkpolicies', 'ClusterNetworkPolicy'),
] as const;

/** `AdminNetworkPolicy/name`: what problems call it, too. */
export const adminPolicyKey = ({ kind, name }: Pick<AdminPolicy, 'kind' | 'name'>): string => `${kind}/${name}`;

/** Of one direction, as AdminNetworkPolicy has it; ClusterNetworkPolicy has 25. */
export const MAX_ADMIN_RULES = 100;
export const MAX_ADMIN_PRIORITY = 1000;
/** A BaselineAdminNetworkPolicy has no priority. It comes after all that have one. */
export const LAST_PRIORITY = MAX_ADMIN_PRIORITY + 1;

/**
 * Of a policy whose subject or whose place in the order cannot be read nobody knows whose traffic it decides: that is an error. A
 * rule that cannot be read is closed, as the API asks of who meets a field that it does not know: `readRules`.
 * @throws ApiError
 */
export const parseAdminPolicy = (
  kind: AdminPolicyKind,
  object: unknown,
  names: NameReading = NO_WILDCARDS,
): AdminPolicy => {
  switch (kind) {
    case 'AdminNetworkPolicy': {
      const { metadata, spec } = parseWith(adminSchema, object, kind);
      return { kind, ...named(metadata), tier: 'admin', priority: spec.priority, ...bodyOf(spec, V1ALPHA1, names) };
    }
    case 'BaselineAdminNetworkPolicy': {
      const { metadata, spec } = parseWith(baselineSchema, object, kind);
      return { kind, ...named(metadata), tier: 'baseline', priority: LAST_PRIORITY, ...bodyOf(spec, V1ALPHA1, names) };
    }
    case 'ClusterNetworkPolicy': {
      const { metadata, spec } = parseWith(clusterSchema, object, kind);
      const tier = spec.tier === 'Admin' ? 'admin' : 'baseline';
      return { kind, ...named(metadata), tier, priority: spec.priority, ...bodyOf(spec, V1ALPHA2, names) };
    }
  }
};

const V1ALPHA1 = { ingress: V1ALPHA1_INGRESS, egress: V1ALPHA1_EGRESS };
const V1ALPHA2 = { ingress: V1ALPHA2_INGRESS, egress: V1ALPHA2_EGRESS };

const named = ({ name, uid }: Pick<AdminPolicy, 'name'> & { uid?: string | undefined }) => ({ name, uid });

const bodyOf = (
  { subject, ingress, egress }: z.output<z.ZodObject<typeof specFields>>,
  schemas: typeof V1ALPHA1,
  names: NameReading,
): Pick<AdminPolicy, 'subject' | 'ingress' | 'egress' | 'findings'> => {
  const reading: Reading = { ...names, findings: [], pairs: 0, names: 0 };
  return {
    subject,
    ingress: readRules(schemas.ingress, ingress, 'spec.ingress', reading),
    egress: readRules(schemas.egress, egress, 'spec.egress', reading),
    findings: reading.findings,
  };
};

const rules = z
  .array(z.unknown())
  .max(MAX_ADMIN_RULES)
  .nullish()
  .transform((list) => list ?? []);
const priority = z.int().min(0).max(MAX_ADMIN_PRIORITY);
const specFields = { subject: subjectSchema, ingress: rules, egress: rules };

const adminSchema = z.object({ metadata: metadataSchema, spec: z.object({ ...specFields, priority }) });
const baselineSchema = z.object({
  metadata: metadataSchema.refine(({ name }) => name === 'default', {
    path: ['name'],
    error: 'must be "default": a cluster has one BaselineAdminNetworkPolicy',
  }),
  spec: z.object(specFields),
});
const clusterSchema = z.object({
  metadata: metadataSchema,
  spec: z.object({ ...specFields, priority, tier: z.enum(['Admin', 'Baseline']) }),
});

function served<Kind extends AdminPolicyKind>(version: string, plural: string, kind: Kind) {
  return { group: 'policy.networking.k8s.io', version, plural, kind, namespaced: false } as const;
}
