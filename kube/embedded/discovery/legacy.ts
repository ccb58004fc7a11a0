/** Discovery one group version at a time: `/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`. */
import type { JsonRecord } from '../../is-record.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';
import { type ServedGroup, servedGroups } from './groups.ts';
import { subresourcesOf, VERBS } from './verbs-of.ts';

export const apiVersions = (): JsonRecord => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '' }],
});

export const apiGroupList = (definitions: readonly ResourceDefinition[]): JsonRecord => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: servedGroups(definitions)
    .filter(({ name }) => name !== '')
    .map(groupOf),
});

/** Undefined when the group is not served. */
export const apiGroup = (definitions: readonly ResourceDefinition[], name: string): JsonRecord | undefined => {
  const group = servedGroups(definitions).find((own) => own.name === name && name !== '');
  return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) };
};

/** Undefined when nothing of the version is served. */
export const apiResourceList = (
  definitions: readonly ResourceDefinition[],
  group: string,
  version: string,
): JsonRecord | undefined => {
  const own = definitions.filter((definition) => definition.group === group && definition.version === version);
  if (own.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: own.flatMap(resourcesOf),
  };
};

const groupOf = ({ name, versions }: ServedGroup): JsonRecord => {
  const list = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] };
};

const resourcesOf = (definition: ResourceDefinition): JsonRecord[] => {
  const { plural, singular, namespaced, kind, shortNames, categories } = definition;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: VERBS,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...subresourcesOf(definition).map(({ name, verbs }) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      kind: name === 'binding' ? 'Binding' : kind,
      verbs,
    })),
  ];
};
