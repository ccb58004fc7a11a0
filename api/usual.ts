/**
 * Reads what an API server sends. Where a cluster's objects are all read at once, the schemas are most of the time that this
 * takes: what looks as it usually does is read without them, and they have the last word on everything else.
 */
import { NetError } from '../net/errors.ts';
import type { ObjectMeta } from './object.ts';

/** @returns what the schema makes of it, or undefined: for the schema to decide */
export const usual =
  <Result>(read: (value: unknown) => Result) =>
  (value: unknown): Result | undefined => {
    try {
      return read(value);
    } catch (error) {
      if (error === UNUSUAL || error instanceof NetError) return undefined;
      throw error;
    }
  };

/** One for all: nobody sees its stack, which would take longer than the schema. */
const UNUSUAL = new Error('unusual');

export const unusual = (): never => {
  throw UNUSUAL;
};

export type Fields = Readonly<Record<string, unknown>>;

/** JSON may have a field of this name, which schemas leave out. */
export const map = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, '__proto__')
    ? (value as Fields)
    : unusual();

export const array = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : unusual());

/** Empty where nothing is said. */
export const list = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? NONE : array(value);

const NONE: readonly never[] = [];

export const text = (value: unknown): string => (typeof value === 'string' ? value : unusual());

export const name = (value: unknown): string => text(value) || unusual();

export const optional = <Result>(value: unknown, read: (value: unknown) => Result): Result | undefined =>
  value === undefined ? undefined : read(value);

export const nullish = <Result>(value: unknown, read: (value: unknown) => Result): Result | null | undefined =>
  value === undefined || value === null ? value : read(value);

export const integer = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : unusual();

export const yesOrNo = (value: unknown): boolean => (typeof value === 'boolean' ? value : unusual());

export const oneOf =
  <Text extends string>(texts: readonly Text[]) =>
  (value: unknown): Text =>
    texts.find((one) => one === value) ?? unusual();

export type NamespacedMeta = ObjectMeta & { readonly namespace: string };

export const namespacedMeta = (value: unknown): NamespacedMeta => {
  const fields = map(value);
  return {
    name: name(fields['name']),
    namespace: name(fields['namespace']),
    uid: optional(fields['uid'], text),
    generation: optional(fields['generation'], integer),
    resourceVersion: optional(fields['resourceVersion'], text),
    creationTimestamp: nullish(fields['creationTimestamp'], text),
    deletionTimestamp: nullish(fields['deletionTimestamp'], text),
    labels: texts(fields['labels']),
    annotations: texts(fields['annotations']),
    finalizers: list(fields['finalizers']).map(text),
    ownerReferences: list(fields['ownerReferences']).map(ownerReference),
  };
};

const texts = (value: unknown): Readonly<Record<string, string>> => {
  const fields = nullish(value, map) ?? {};
  for (const key in fields) text(fields[key]);
  return fields as Readonly<Record<string, string>>;
};

const ownerReference = (value: unknown): ObjectMeta['ownerReferences'][number] => {
  const fields = map(value);
  return {
    apiVersion: text(fields['apiVersion']),
    kind: text(fields['kind']),
    name: text(fields['name']),
    uid: text(fields['uid']),
    controller: optional(fields['controller'], yesOrNo),
    blockOwnerDeletion: optional(fields['blockOwnerDeletion'], yesOrNo),
  };
};
