/** The JSON of stored objects, made once for all readers and watchers. */
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';
import type { Stored } from './store.ts';

const cache = new WeakMap<Stored, string>();

/** As this definition serves it. */
export const jsonOf = (definition: ResourceDefinition, stored: Stored): string => {
  if (definition.conversion !== undefined) return JSON.stringify(definition.conversion.fromStored(stored.object));
  return objectJson(stored);
};

/** As it is stored. */
export const objectJson = (stored: Stored): string => {
  const known = cache.get(stored);
  if (known !== undefined) return known;
  const json = JSON.stringify(stored.object);
  cache.set(stored, json);
  return json;
};

/** As an item of a list: the items of built-in kinds lack `apiVersion` and `kind`, as on a real server. */
export const itemJsonOf = (definition: ResourceDefinition, stored: Stored): string => {
  const json = jsonOf(definition, stored);
  if (definition.custom) return json;
  const typed = JSON.stringify({ apiVersion: apiVersionOf(definition), kind: definition.kind }).slice(0, -1);
  return json.startsWith(`${typed},`) ? `{${json.slice(typed.length + 1)}` : json;
};
