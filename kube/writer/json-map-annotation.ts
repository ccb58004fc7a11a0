/**
 * Annotations whose value is a JSON object that several programs write, such as `k8s.ovn.org/pod-networks`: each changes
 * its own keys. The value is one string to the API server, so a change is made on condition that the string is still the
 * one that was read.
 */
import { isConflict, isInvalid, KubeError } from '../errors.ts';
import { isRecord, type JsonRecord } from '../is-record.ts';
import { jsonEqual } from '../json-equal.ts';
import { refKey } from '../object-key.ts';
import { jsonPointer } from '../patch/json-pointer.ts';
import type { KubeClient, KubeObject, ObjectRef, Patch, ResourceType } from '../types.ts';
import { replaced } from './replaced.ts';
import type { KnownAnnotation } from './types.ts';

export interface JsonMapChange {
  readonly resource: ResourceType;
  readonly ref: ObjectRef;
  readonly annotation: string;
  /** Undefined removes a key. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** Saves reading the object first. */
  readonly known?: KnownAnnotation | undefined;
  /** Of the object that the changes are meant for: they never land on another one of its name. */
  readonly uid?: string | undefined;
}

export interface JsonMapContext {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly fieldManager: string;
}

/** Writers that get in each other's way this often in a row are left to the caller's backoff. */
const TRIES = 8;

/**
 * @returns the object after the change, or as it is when nothing has to be changed
 * @throws KubeError ERR_KUBE_ANNOTATION, ERR_KUBE_REPLACED, or the last refusal after several tries
 */
export const patchJsonMapAnnotation = async (
  context: JsonMapContext,
  change: JsonMapChange,
  signal?: AbortSignal,
): Promise<KubeObject> => {
  let state: State = change.known ?? (await read(context, change, signal));
  for (let tries = 1; ; tries += 1) {
    const patch = planJsonMapChange(state, change);
    if (patch === undefined && state.object !== undefined) return state.object;
    const outcome = patch === undefined ? undefined : await tryPatch(context, change, patch, signal);
    if (outcome?.object !== undefined) return outcome.object;
    const fresh = await read(context, change, signal);
    // 422 says both that the test failed and that the result is not valid: only the first is worth another try.
    const hopeless = isInvalid(outcome?.refusal) && fresh.value === state.value;
    if (outcome !== undefined && (hopeless || tries >= TRIES)) throw outcome.refusal;
    state = fresh;
  }
};

/** Pure. Undefined when the annotation already says it. */
export const planJsonMapChange = (
  { value, resourceVersion }: KnownAnnotation,
  { annotation, changes, ref, uid }: Pick<JsonMapChange, 'annotation' | 'changes' | 'ref' | 'uid'>,
): Patch | undefined => {
  const before = value === undefined || value === '' ? {} : parseMap(value, annotation, ref);
  const after = withChanges(before, changes);
  if (jsonEqual(before, after)) return undefined;
  const text = Object.keys(after).length === 0 ? null : JSON.stringify(after);
  if (value === undefined) {
    // A test can't ask whether something is absent (RFC 6902 §4.6): the whole object must be as it was read.
    const guard = uid === undefined ? { resourceVersion } : { uid, resourceVersion };
    return { type: 'merge', body: { metadata: { ...guard, annotations: { [annotation]: text } } } };
  }
  const path = jsonPointer(['metadata', 'annotations', annotation]);
  const write = text === null ? ({ op: 'remove', path } as const) : ({ op: 'replace', path, value: text } as const);
  const guard = uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: uid } as const];
  return { type: 'json', operations: [...guard, { op: 'test', path, value }, write] };
};

interface State extends KnownAnnotation {
  /** Absent when the state is a guess. */
  readonly object?: KubeObject;
}

const read = async (
  { client }: JsonMapContext,
  { resource, ref, annotation, uid }: JsonMapChange,
  signal: AbortSignal | undefined,
): Promise<State & { object: KubeObject }> => {
  const object = await client.get(resource, ref, signal);
  if (uid !== undefined && object.metadata.uid !== uid) throw replaced(ref, uid, object);
  const { annotations, resourceVersion } = object.metadata;
  return { value: annotations?.[annotation], resourceVersion, object };
};

type Outcome =
  | { readonly object: KubeObject; readonly refusal?: undefined }
  | { readonly refusal: KubeError; readonly object?: undefined };

const tryPatch = async (
  { client, fieldManager }: JsonMapContext,
  { resource, ref }: JsonMapChange,
  patch: Patch,
  signal: AbortSignal | undefined,
): Promise<Outcome> => {
  try {
    return { object: await client.patch(resource, ref, patch, { fieldManager }, signal) };
  } catch (error) {
    if (isConflict(error) || isInvalid(error)) return { refusal: error };
    throw error;
  }
};

const parseMap = (text: string, annotation: string, ref: ObjectRef): JsonRecord => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isRecord(value)) return value;
  throw new KubeError('ERR_KUBE_ANNOTATION', `annotation ${annotation} of ${refKey(ref)} is no JSON object: ${text}`);
};

const withChanges = (map: JsonRecord, changes: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries({ ...map, ...changes }).filter(([, value]) => value !== undefined));
