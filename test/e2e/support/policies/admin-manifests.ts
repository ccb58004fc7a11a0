/** Policies of administrators, and their definitions as a cluster's administrator installs them. */
import { ADMIN_POLICIES } from '../../../../api/admin-network-policy.ts';
import type { AdminPolicyKind } from '../../../../api/admin-policy/types.ts';
import { definitionOf } from '../../../../kube/testing/definition-of.ts';
import type { ManifestObject } from '../../../../sandbox/index.ts';

export const ADMIN_DEFINITIONS: readonly ManifestObject[] = ADMIN_POLICIES.map((resource) => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  ...definitionOf(resource),
}));

export const adminPolicy = (
  kind: AdminPolicyKind,
  name: string,
  spec: Readonly<Record<string, unknown>>,
): ManifestObject => {
  const { group, version } = ADMIN_POLICIES.find((one) => one.kind === kind) ?? ADMIN_POLICIES[0];
  return { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec };
};

/** A selector of namespaces by their names. */
export const named = (...values: readonly string[]) => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
});
