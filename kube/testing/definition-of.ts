import type { ResourceType } from '../types.ts';

/** A CustomResourceDefinition as somebody else installs it, whose objects may have any fields. */
export const definitionOf = ({ group, version, plural, kind, namespaced }: ResourceType) => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: namespaced ? 'Namespaced' : 'Cluster', names: { plural, kind, singular: kind.toLowerCase() } },
    versions: [
      {
        ...{ name: version, served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
