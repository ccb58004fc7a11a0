/** Which groups and versions are served, in the order of preference. */
import type { ResourceDefinition } from '../definitions/types.ts';

export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceDefinition[] }[];
}

export const servedGroups = (definitions: readonly ResourceDefinition[]): ServedGroup[] =>
  [...Map.groupBy(definitions, ({ group }) => group)].map(([name, own]) => ({
    name,
    versions: [...Map.groupBy(own, ({ version }) => version)]
      .map(([version, resources]) => ({ version, resources }))
      .sort((a, b) => compareVersions(a.version, b.version)),
  }));

/** `v2` before `v1`, those before `v1beta2`, before `v1alpha1`, before anything else (Kubernetes version priority). */
export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [rank(a), rank(b)];
  for (const [i, part] of left.entries()) if (part !== right[i]) return (right[i] ?? 0) - part;
  return a < b ? -1 : a > b ? 1 : 0;
};

const rank = (version: string): number[] => {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return [0, 0, 0];
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
};
