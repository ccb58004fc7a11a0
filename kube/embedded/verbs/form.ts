/** The form in which objects are stored. */
import type { JsonRecord } from '../../is-record.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';

/** `apiVersion`, `kind` and `metadata` first: their place is relied on when lists are written. */
export const orderedObject = (definition: ResourceDefinition, object: JsonRecord): JsonRecord => {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  return { apiVersion: apiVersionOf(definition), kind: definition.kind, metadata, ...rest };
};

export const storedForm = ({ conversion }: ResourceDefinition, object: JsonRecord): JsonRecord =>
  conversion === undefined ? object : conversion.toStored(object);

export const servedForm = ({ conversion }: ResourceDefinition, object: JsonRecord): JsonRecord =>
  conversion === undefined ? object : conversion.fromStored(object);
