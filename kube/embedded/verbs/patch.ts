/** PATCH in its four kinds. */
import { isRecord, type JsonRecord } from '../../is-record.ts';
import { applyJsonPatch, asJsonPatch, JsonPatchError } from '../../patch/json-patch.ts';
import { applyMergePatch } from '../../patch/merge-patch.ts';
import { applyFields, type FieldConflict } from '../apply/field-manager.ts';
import { checkListKeys } from '../apply/merge.ts';
import { applyStrategicPatch } from '../apply/strategic-patch.ts';
import type { ServerContext } from '../context.ts';
import { pruneObject } from '../crd/prune.ts';
import { contentType, parseBody } from '../requests/body.ts';
import type { HttpRequest, Target } from '../requests/types.ts';
import { type WriteRequest, writeRequest } from '../requests/write-options.ts';
import { badRequest, conflict, notFound, StatusError, unprocessable, unsupportedMediaType } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { checkIdentity } from './admit.ts';
import { createObject } from './create.ts';
import { fieldContext } from './managed.ts';
import { metadataOf, withMetadata } from './metadata.ts';
import { updateObject } from './update.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

export interface PatchOutcome {
  readonly stored: Stored;
  readonly created: boolean;
}

/** @throws StatusError */
export const patchObject = (
  context: ServerContext,
  target: Target & { readonly name: string },
  request: HttpRequest,
  warn: (message: string) => void,
): PatchOutcome => {
  const type = contentType(request);
  if (type === APPLY_PATCH) return applyObject(context, target, request, warn);
  const change = changeOf(type, target, request);
  const options = writeRequest(request);
  return { stored: updateObject(context, { ...target, options, change, warn }), created: false };
};

const changeOf = (type: string, { definition }: Target, request: HttpRequest): ((old: JsonRecord) => JsonRecord) => {
  if (type === JSON_PATCH) return jsonPatch(parseBody(request.body));
  if (type === MERGE_PATCH) {
    const patch = objectPatch(parseBody(request.body));
    return (old) => withNamedManagedFields(patch, applyMergePatch(old, patch));
  }
  if (type === STRATEGIC_PATCH && !definition.custom) {
    const patch = objectPatch(parseBody(request.body));
    return (old) => withNamedManagedFields(patch, applyStrategicPatch(definition.fields, old, patch));
  }
  throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH, ...(definition.custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH]);
};

const objectPatch = (body: unknown): JsonRecord => {
  if (isRecord(body)) return body;
  throw badRequest('a merge patch must be an object');
};

const jsonPatch = (body: unknown): ((old: JsonRecord) => JsonRecord) => {
  const operations = asJsonPatch(body);
  if (operations === undefined) throw badRequest('the body of the request is no JSON patch');
  const touchesManagers = operations.some(({ path }) => path.startsWith('/metadata/managedFields'));
  return (old) => {
    try {
      const next = objectOrRefuse(applyJsonPatch(old, operations, { replaceAdds: true }));
      return touchesManagers ? next : withMetadata(next, { managedFields: undefined });
    } catch (error) {
      if (error instanceof JsonPatchError) throw unprocessable();
      throw error;
    }
  };
};

const objectOrRefuse = (value: unknown): JsonRecord => {
  if (isRecord(value)) return value;
  throw unprocessable();
};

/** The patched object has the old owners in it: they count as given only when the patch names them. */
const withNamedManagedFields = (patch: JsonRecord, next: unknown): JsonRecord => {
  const named = 'managedFields' in metadataOf(patch);
  return named ? objectOrRefuse(next) : withMetadata(objectOrRefuse(next), { managedFields: undefined });
};

const applyObject = (
  context: ServerContext,
  target: Target & { readonly name: string },
  request: HttpRequest,
  warn: (message: string) => void,
): PatchOutcome => {
  const { definition, namespace, name, subresource } = target;
  const options = writeRequest(request, true);
  const applied = objectPatch(parseBody(request.body));
  checkIdentity(applied, definition, { namespace, name });
  if (metadataOf(applied)['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  checkDeclared(target, applied);
  const key = namespace === '' ? name : `${namespace}/${name}`;
  const live = context.store.collection(definition.collection).get(key);
  if (live === undefined) {
    const { uid } = metadataOf(applied);
    if (uid) {
      const message = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, name, message);
    }
    if (subresource !== undefined) throw notFound(definition, name);
    const object = applyTo(context, target, options, undefined, applied);
    return { stored: createObject(context, { ...target, object, options, isApply: true, warn }), created: true };
  }
  const change = (old: JsonRecord): JsonRecord => applyTo(context, target, options, old, applied);
  return { stored: updateObject(context, { ...target, options, change, isApply: true, warn }), created: false };
};

/** The owner of a field that no schema knows, or of one item of two with the same key, would be ambiguous. */
const checkDeclared = ({ definition, namespace, name }: Target, applied: JsonRecord): void => {
  const refuse = (problem: string): never => {
    const key = namespace === '' ? name : `${namespace}/${name}`;
    const what = `${key}; ${definition.group}/${definition.version}, Kind=${definition.kind}`;
    throw new StatusError(500, '', `failed to create typed patch object (${what}): ${problem}`);
  };
  checkListKeys(definition.fields, applied, refuse);
  if (definition.schema === undefined) return;
  pruneObject(definition.schema, applied, (path) => refuse(`.${path}: field not declared in schema`));
};

const applyTo = (
  context: ServerContext,
  { definition, subresource }: Target,
  options: WriteRequest,
  live: JsonRecord | undefined,
  applied: JsonRecord,
): JsonRecord => {
  const fields = fieldContext(context, { definition, options, subresource, isApply: true });
  const result = applyFields(fields, live, applied, options.force);
  if ('object' in result) return result.object;
  throw applyConflict(result.conflicts);
};

const applyConflict = (conflicts: readonly FieldConflict[]): StatusError => {
  const causes = conflicts.flatMap(({ manager, fields }) =>
    fields.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with "${manager.manager}"${describe(manager)}`,
      field,
    })),
  );
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join('\n');
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  return new StatusError(409, 'Conflict', `Apply failed with ${count}: ${list}`, { causes });
};

const describe = ({ operation, apiVersion, subresource, time }: FieldConflict['manager']): string => {
  const part = subresource === '' ? '' : ` with subresource "${subresource}"`;
  return operation === 'Update' ? `${part} using ${apiVersion} at ${time}` : part;
};
