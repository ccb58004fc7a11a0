/** The verbs of the API over a transport. */
import type { Transport, TransportRequest, TransportResponse } from '../transport/types.ts';
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectInput,
  ObjectRef,
  Patch,
  RawRequest,
  ResourceType,
  WatchOptions,
  WriteOptions,
} from '../types.ts';
import { apiVersionOf, queryString, resourcePath } from './resource-path.ts';
import { asList, asObject, asRecord, readJson } from './responses.ts';

export interface KubeClientOptions {
  readonly transport: Transport;
  /** `program/version`. Up to the slash it is also the field manager of writes that name none. */
  readonly userAgent?: string | undefined;
}

export const createKubeClient = ({ transport, userAgent = 'ovn-udn' }: KubeClientOptions): KubeClient => {
  const send = (request: RawRequest & { readonly streaming?: boolean }, signal?: AbortSignal) =>
    transport.send(wireRequest(request, userAgent), signal);
  const call = async (request: RawRequest, signal?: AbortSignal): Promise<unknown> =>
    readJson(await send(request, signal), describe(request));
  const callForObject = async (request: RawRequest, signal?: AbortSignal) =>
    asObject(await call(request, signal), describe(request));
  return {
    get: (resource, ref, signal) => callForObject({ method: 'GET', path: resourcePath(resource, ref) }, signal),
    list: async (resource, options = {}, signal) => {
      const request = { method: 'GET', path: listPath(resource, options) };
      return asList(await call(request, signal), describe(request));
    },
    watch: async (resource, options = {}, signal) => {
      const request = { method: 'GET', path: watchPath(resource, options), streaming: true };
      return openStream(await send(request, signal), describe(request));
    },
    create: (resource, object, options = {}, signal) => callForObject(createRequest(resource, object, options), signal),
    update: (resource, object, options = {}, signal) => callForObject(updateRequest(resource, object, options), signal),
    patch: (resource, ref, patch, options = {}, signal) =>
      callForObject(patchRequest(resource, ref, patch, options), signal),
    delete: async (resource, ref, options = {}, signal) => {
      const request = deleteRequest(resource, ref, options);
      return asRecord(await call(request, signal), describe(request));
    },
    request: (request, signal) => call(request, signal),
    close: () => transport.close(),
  };
};

const describe = ({ method, path }: RawRequest): string => `${method} ${path}`;

const wireRequest = (
  { method, path, body, contentType = 'application/json', streaming }: RawRequest & { readonly streaming?: boolean },
  userAgent: string,
): TransportRequest => ({
  method,
  path,
  headers: {
    accept: 'application/json',
    'user-agent': userAgent,
    ...(body === undefined ? {} : { 'content-type': contentType }),
  },
  body: body === undefined ? undefined : JSON.stringify(body),
  streaming,
});

const listPath = (resource: ResourceType, { namespace, ...parameters }: ListOptions): string =>
  resourcePath(resource, { namespace }) + queryString(parameters);

const watchPath = (resource: ResourceType, { namespace, sendInitialEvents, ...parameters }: WatchOptions): string => {
  const initial = sendInitialEvents === true ? { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : {};
  return resourcePath(resource, { namespace }) + queryString({ watch: true, ...parameters, ...initial });
};

/** An error of a watch comes as an ordinary response. */
const openStream = async (response: TransportResponse, what: string): Promise<AsyncIterable<Uint8Array>> => {
  if (response.status !== 200) await readJson(response, what);
  return response.body;
};

const createRequest = (resource: ResourceType, object: ObjectInput, options: WriteOptions): RawRequest => {
  const { namespace, name } = object.metadata;
  // A subresource is created on a named object, for example pods/NAME/binding.
  const target =
    options.subresource === undefined ? { namespace } : { namespace, name, subresource: options.subresource };
  return { method: 'POST', path: resourcePath(resource, target) + writeQuery(options), body: typed(resource, object) };
};

const updateRequest = (resource: ResourceType, object: ObjectInput, options: WriteOptions): RawRequest => {
  const { namespace, name = '' } = object.metadata;
  return {
    method: 'PUT',
    path: resourcePath(resource, { namespace, name, subresource: options.subresource }) + writeQuery(options),
    body: typed(resource, object),
  };
};

const patchRequest = (resource: ResourceType, ref: ObjectRef, patch: Patch, options: WriteOptions): RawRequest => {
  const path = resourcePath(resource, { ...ref, subresource: options.subresource });
  if (patch.type !== 'apply') {
    return { method: 'PATCH', path: path + writeQuery(options), ...PATCH_BODIES[patch.type](patch) };
  }
  const query = writeQuery({ ...options, fieldManager: patch.fieldManager }, patch.force);
  return {
    method: 'PATCH',
    path: path + query,
    contentType: 'application/apply-patch+yaml',
    body: typed(resource, patch.body),
  };
};

type PlainPatch = Exclude<Patch, { type: 'apply' }>;

const plainBody = (patch: PlainPatch): unknown => (patch.type === 'json' ? patch.operations : patch.body);

const PATCH_BODIES = {
  json: (patch: PlainPatch) => ({ contentType: 'application/json-patch+json', body: plainBody(patch) }),
  merge: (patch: PlainPatch) => ({ contentType: 'application/merge-patch+json', body: plainBody(patch) }),
  strategic: (patch: PlainPatch) => ({ contentType: 'application/strategic-merge-patch+json', body: plainBody(patch) }),
} as const;

const deleteRequest = (resource: ResourceType, ref: ObjectRef, { dryRun, ...options }: DeleteOptions): RawRequest => ({
  method: 'DELETE',
  path: resourcePath(resource, ref),
  body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...(dryRun ? { dryRun: ['All'] } : {}) },
});

const writeQuery = ({ fieldManager, dryRun, fieldValidation }: WriteOptions, force?: boolean): string =>
  queryString({ fieldManager, dryRun: dryRun ? 'All' : undefined, fieldValidation, force });

/** The server insists on both, and callers would only repeat the resource. */
const typed = (resource: ResourceType, object: ObjectInput): ObjectInput => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  ...object,
});
