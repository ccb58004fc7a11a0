/** The last lines that were written: an event is made into bytes once, however many watch. */
import type { ResourceDefinition } from '../definitions/types.ts';
import type { Stored } from '../store/store.ts';

export interface LineCache {
  get(definition: ResourceDefinition, type: string, stored: Stored, make: () => Buffer): Buffer;
}

export const createLineCache = (): LineCache => {
  let current: { readonly stored: Stored; readonly lines: Map<string, Buffer> } | undefined;
  return {
    get: (definition, type, stored, make) => {
      if (current?.stored !== stored) current = { stored, lines: new Map() };
      const key = `${type} ${definition.group}/${definition.version}`;
      const known = current.lines.get(key) ?? make();
      current.lines.set(key, known);
      return known;
    },
  };
};
