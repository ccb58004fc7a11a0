/** Values of the columns of `kubectl get`. */
import { age } from '../../age.ts';
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import type { Column } from '../definitions/types.ts';

/** The value at a path of field names. */
export const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);

export const listAt = (object: unknown, path: string): JsonRecord[] => {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter(isRecord) : [];
};

export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  value: (object) => at(object, 'metadata.name'),
};

export const AGE: Column = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  value: (object, now) => age(at(object, 'metadata.creationTimestamp'), now),
};

/** A column that shows one field; what is absent is shown as kubectl shows nothing. */
export const field = (name: string, path: string, priority = 0): Column => ({
  name,
  type: 'string',
  priority,
  value: (object) => text(at(object, path)),
});

export const text = (value: unknown): string => {
  if (value === undefined || value === null || value === '') return '<none>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

export const joined = (values: readonly unknown[]): string => (values.length === 0 ? '<none>' : values.join(','));

/** `a=b,c=d`, as selectors are shown. */
export const pairs = (value: unknown): string =>
  joined(Object.entries(recordOr(value)).map(([key, own]) => `${key}=${String(own)}`));
