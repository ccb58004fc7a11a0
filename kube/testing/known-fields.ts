/** Which fields of a manifest Kubernetes does not have, by the models of its own client: a misspelt field is dropped in silence. */
import * as models from '@kubernetes/client-node';
import { z } from 'zod';

const modelSchema = z.custom<{ getAttributeTypeMap(): { baseName: string; type: string }[] }>(
  (value) => typeof value === 'function' && 'getAttributeTypeMap' in value,
);

/** @param kind for example `V1DaemonSet` @returns paths such as `spec.template.spec.hostNetwrk` */
export const unknownFields = (kind: string, value: unknown, path = ''): string[] => {
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(kind)?.[1];
  const element = /^Array<(.*)>$/.exec(kind)?.[1];
  if (element !== undefined && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(element, item, `${path}[${index}]`));
  }
  if (map !== undefined) return entries(value).flatMap(([key, item]) => unknownFields(map, item, `${path}.${key}`));
  const model = modelSchema.safeParse(Reflect.get(models, kind)).data;
  if (model === undefined) return typeof value === 'object' && !LEAVES.has(kind) ? [`${path} is no ${kind}`] : [];
  const types = new Map(model.getAttributeTypeMap().map(({ baseName, type }) => [baseName, type]));
  return entries(value).flatMap(([key, item]) => {
    const type = types.get(key);
    const at = path === '' ? key : `${path}.${key}`;
    return type === undefined ? [at] : unknownFields(type, item, at);
  });
};

const LEAVES: ReadonlySet<string> = new Set(['any', 'IntOrString', 'Date']);

const entries = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];
