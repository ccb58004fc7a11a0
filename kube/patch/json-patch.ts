/** JSON patch, RFC 6902. */
import { isRecord } from '../is-record.ts';
import { jsonEqual } from '../json-equal.ts';
import type { JsonPatchOperation } from '../types.ts';
import { pointerPath } from './json-pointer.ts';

/** The patch can't be applied to this document, for example because a `test` failed. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
}

export interface JsonPatchRules {
  /** A `replace` of a member that an object does not have adds it: kube-apiserver's library does so, the RFC does not. */
  readonly replaceAdds?: boolean;
}

/**
 * A new document; `document` is not changed. All or nothing.
 * @throws JsonPatchError
 */
export const applyJsonPatch = (
  document: unknown,
  operations: readonly JsonPatchOperation[],
  rules: JsonPatchRules = {},
): unknown => operations.reduce((result, operation) => applyOperation(result, operation, rules), document);

/** Undefined when `value` is no JSON patch. */
export const asJsonPatch = (value: unknown): JsonPatchOperation[] | undefined =>
  Array.isArray(value) && value.every(isOperation) ? value : undefined;

const isOperation = (value: unknown): value is JsonPatchOperation => {
  if (!isRecord(value) || typeof value['path'] !== 'string') return false;
  switch (value['op']) {
    case 'add':
    case 'replace':
    case 'test':
      return 'value' in value;
    case 'remove':
      return true;
    case 'move':
    case 'copy':
      return typeof value['from'] === 'string';
    default:
      return false;
  }
};

const applyOperation = (document: unknown, operation: JsonPatchOperation, rules: JsonPatchRules): unknown => {
  const path = pathOf(operation.path);
  switch (operation.op) {
    case 'add':
      return insert(document, path, operation.value);
    case 'replace':
      return replace(document, path, operation.value, rules);
    case 'remove':
      return remove(document, path);
    case 'test':
      if (jsonEqual(lookup(document, path), operation.value)) return document;
      throw new JsonPatchError(`testing value ${operation.path} failed`);
    case 'copy':
      return insert(document, path, lookup(document, pathOf(operation.from)));
    case 'move': {
      const from = pathOf(operation.from);
      return insert(remove(document, from), path, lookup(document, from));
    }
  }
};

const pathOf = (pointer: string): string[] => {
  const path = pointerPath(pointer);
  if (path === undefined) throw new JsonPatchError(`"${pointer}" is no JSON pointer`);
  return path;
};

const lookup = (document: unknown, path: readonly string[]): unknown => {
  let value = document;
  for (const [depth, part] of path.entries()) {
    if (Array.isArray(value)) value = value[indexOf(part, value.length - 1, path)];
    else if (isRecord(value) && Object.hasOwn(value, part)) value = value[part];
    else throw missing(path.slice(0, depth + 1));
  }
  return value;
};

const replace = (
  document: unknown,
  path: readonly string[],
  value: unknown,
  { replaceAdds = false }: JsonPatchRules,
): unknown => {
  if (path.length === 0) return value;
  const parent = lookup(document, path.slice(0, -1));
  if (replaceAdds && isRecord(parent)) return insert(document, path, value);
  return insert(remove(document, path), path, value);
};

const insert = (document: unknown, path: readonly string[], value: unknown): unknown =>
  change(
    document,
    path,
    path,
    (parent, part) => {
      if (!Array.isArray(parent)) return { ...parent, [part]: value };
      return parent.toSpliced(part === '-' ? parent.length : indexOf(part, parent.length, path), 0, value);
    },
    () => value,
  );

const remove = (document: unknown, path: readonly string[]): unknown =>
  change(
    document,
    path,
    path,
    (parent, part) => {
      if (Array.isArray(parent)) return parent.toSpliced(indexOf(part, parent.length - 1, path), 1);
      if (!Object.hasOwn(parent, part)) throw missing(path);
      return Object.fromEntries(Object.entries(parent).filter(([key]) => key !== part));
    },
    () => undefined,
  );

/** Copies the containers on the way to the last one and changes that. */
const change = (
  document: unknown,
  rest: readonly string[],
  path: readonly string[],
  last: (parent: unknown[] | Readonly<Record<string, unknown>>, part: string) => unknown,
  whole: () => unknown,
): unknown => {
  const [part, ...deeper] = rest;
  if (part === undefined) return whole();
  if (!Array.isArray(document) && !isRecord(document)) throw missing(path);
  if (deeper.length === 0) return last(document, part);
  if (Array.isArray(document)) {
    const index = indexOf(part, document.length - 1, path);
    return document.with(index, change(document[index], deeper, path, last, whole));
  }
  if (!Object.hasOwn(document, part)) throw missing(path);
  return { ...document, [part]: change(document[part], deeper, path, last, whole) };
};

const indexOf = (part: string, max: number, path: readonly string[]): number => {
  const index = /^(0|[1-9][0-9]*)$/.test(part) ? Number(part) : Number.NaN;
  if (index <= max) return index;
  throw new JsonPatchError(`/${path.join('/')}: no array element "${part}"`);
};

const missing = (path: readonly string[]): JsonPatchError => new JsonPatchError(`/${path.join('/')} is missing`);
