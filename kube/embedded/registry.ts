/** The kinds that are served now: built-in ones and those of CRDs. */
import type { ResourceDefinition } from './definitions/types.ts';

export interface Registry {
  /** Adds or replaces. */
  add(definition: ResourceDefinition): void;
  remove(definition: ResourceDefinition): void;
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  /** In the order in which they were added. */
  all(): readonly ResourceDefinition[];
  /** One per collection: the definition whose form is stored. */
  ofCollection(collection: string): ResourceDefinition | undefined;
  /** By `apiVersion` and `kind`, as owner references name kinds. */
  ofKind(apiVersion: string, kind: string): ResourceDefinition | undefined;
}

export const createRegistry = (builtin: readonly ResourceDefinition[]): Registry => {
  const definitions = new Map(builtin.map((definition) => [pathOf(definition), definition]));
  const find = (matches: (definition: ResourceDefinition) => boolean): ResourceDefinition | undefined => {
    for (const definition of definitions.values()) if (matches(definition)) return definition;
    return undefined;
  };
  return {
    add: (definition) => definitions.set(pathOf(definition), definition),
    remove: (definition) => definitions.delete(pathOf(definition)),
    find: (group, version, plural) => definitions.get(pathOf({ group, version, plural })),
    all: () => [...definitions.values()],
    ofCollection: (collection) => find((own) => own.collection === collection && own.conversion === undefined),
    ofKind: (apiVersion, kind) => find((own) => own.kind === kind && apiVersionOf(own) === apiVersion),
  };
};

type Path = Pick<ResourceDefinition, 'group' | 'version' | 'plural'>;

const pathOf = ({ group, version, plural }: Path): string => `${group}/${version}/${plural}`;

export const apiVersionOf = ({ group, version }: Pick<ResourceDefinition, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;
