/** Discovery in two requests: apidiscovery.k8s.io/v2 at `/api` and `/apis`. */
import type { JsonRecord } from '../../is-record.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { servedGroups } from './groups.ts';
import { subresourcesOf, VERBS } from './verbs-of.ts';

/** The version that the client asks for, when it asks for this form. */
export const aggregatedVersion = (accept: string): string | undefined =>
  /g=apidiscovery\.k8s\.io;v=(v2|v2beta1);as=APIGroupDiscoveryList/.exec(accept)?.[1];

/** @param core the core group, which is served apart from the others */
export const groupDiscoveryList = (
  definitions: readonly ResourceDefinition[],
  { core, version }: { core: boolean; version: string },
): JsonRecord => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: servedGroups(definitions)
    .filter(({ name }) => (name === '') === core)
    .map(({ name, versions }) => ({
      metadata: { name, creationTimestamp: null },
      versions: versions.map((own) => ({
        version: own.version,
        freshness: 'Current',
        resources: own.resources.map(resourceOf),
      })),
    })),
});

const resourceOf = (definition: ResourceDefinition): JsonRecord => {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories } = definition;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: VERBS,
    shortNames,
    categories,
    subresources: subresourcesOf(definition).map(({ name, verbs }) => ({ subresource: name, responseKind, verbs })),
  };
};
