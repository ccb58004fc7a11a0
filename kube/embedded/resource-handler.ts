/** The verbs by method and URL. */
import type { JsonRecord } from '../is-record.ts';
import type { ServerContext } from './context.ts';
import { formatOf } from './requests/accept.ts';
import { parseBody, readObject } from './requests/body.ts';
import { type RenderOptions, renderList, renderObject } from './requests/render.ts';
import { targetOf } from './requests/target.ts';
import type { HttpRequest, HttpResponse, Target } from './requests/types.ts';
import { deleteRequest, writeRequest } from './requests/write-options.ts';
import { methodNotAllowed, noSuchPath, notFound } from './status-error.ts';
import type { Stored } from './store/store.ts';
import { identified } from './verbs/admit.ts';
import { bindPod } from './verbs/bind-pod.ts';
import { createObject } from './verbs/create.ts';
import { deleteObject } from './verbs/delete.ts';
import type { LineCache } from './verbs/line-cache.ts';
import { listObjects } from './verbs/list.ts';
import { patchObject } from './verbs/patch.ts';
import { selectionOf } from './verbs/select.ts';
import { updateObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';

interface Call {
  readonly context: ServerContext;
  readonly target: Target;
  readonly request: HttpRequest;
  readonly render: RenderOptions;
  readonly lines: LineCache;
  readonly warnings: string[];
}

type NamedCall = Call & { readonly target: Target & { readonly name: string } };

/** @throws StatusError */
export const handleResource = (context: ServerContext, lines: LineCache, request: HttpRequest): HttpResponse => {
  const target = targetOf(context.registry, request.segments);
  const render = {
    format: formatOf(request.headers['accept']),
    now: context.clock.wall(),
    includeObject: request.query.get('includeObject') ?? 'Metadata',
  };
  const call = { context, target, request, render, lines, warnings: [] };
  const isWatch = request.query.get('watch') === 'true' || request.query.get('watch') === '1';
  if (request.method === 'GET' && isWatch && target.subresource === undefined) return watch(call);
  const { name } = target;
  if (name === undefined) return onCollection(call);
  return onObject({ ...call, target: { ...target, name } });
};

const watch = ({ context, target, request, render, lines }: Call): HttpResponse => ({
  status: 200,
  headers: { 'content-type': contentTypeOf(render), 'cache-control': 'no-cache, private' },
  stream: watchObjects(context, target, request, render, lines),
});

const onCollection = (call: Call): HttpResponse => {
  switch (call.request.method) {
    case 'GET':
      return list(call);
    case 'POST':
      return create(call);
    case 'DELETE':
      return deleteCollection(call);
    default:
      throw methodNotAllowed();
  }
};

const list = ({ context, target, request, render }: Call): HttpResponse => {
  const { items, metadata } = listObjects(context, target, request);
  return respond(200, renderList(target.definition, items, metadata, render), render, []);
};

const create = ({ context, target, request, render, warnings }: Call): HttpResponse => {
  const { definition, namespace } = target;
  if (definition.namespaced && namespace === '') throw methodNotAllowed();
  const stored = createObject(context, {
    definition,
    namespace,
    object: identified(readObject(request), definition),
    options: writeRequest(request),
    warn: (message) => warnings.push(message),
  });
  return objectResponse(201, target, stored, render, warnings);
};

const deleteCollection = ({ context, target, request, render }: Call): HttpResponse => {
  const { definition, namespace } = target;
  const options = deleteRequest(request, request.body === '' ? undefined : parseBody(request.body));
  const { matches } = selectionOf(target, request);
  const items = context.store.collection(definition.collection).range(namespace).filter(matches);
  for (const stored of items) {
    deleteObject(context, { definition, namespace: stored.namespace, name: stored.name, options });
  }
  const metadata = { resourceVersion: String(context.store.revision) };
  return respond(200, renderList(definition, items, metadata, render), render, []);
};

const onObject = (call: NamedCall): HttpResponse => {
  const { context, target, request, render, warnings } = call;
  const { definition, subresource } = target;
  if (subresource === 'binding' && definition.kind === 'Pod' && definition.group === '') return bind(call);
  if (subresource !== undefined && !(subresource === 'status' && definition.hasStatus)) throw noSuchPath();
  switch (request.method) {
    case 'GET':
      return objectResponse(200, target, getObject(context, target), render, []);
    case 'PUT': {
      const { stored, created } = put(call);
      return objectResponse(created ? 201 : 200, target, stored, render, warnings);
    }
    case 'PATCH': {
      const { stored, created } = patchObject(context, target, request, (message) => warnings.push(message));
      return objectResponse(created ? 201 : 200, target, stored, render, warnings);
    }
    case 'DELETE':
      return subresource === undefined ? remove(call) : refuseMethod();
    default:
      throw methodNotAllowed();
  }
};

const getObject = (context: ServerContext, target: NamedCall['target']): Stored => {
  const stored = findObject(context, target);
  if (stored === undefined) throw notFound(target.definition, target.name);
  return stored;
};

const findObject = ({ store }: ServerContext, { definition, namespace, name }: NamedCall['target']) =>
  store.collection(definition.collection).get(namespace === '' ? name : `${namespace}/${name}`);

const put = ({ context, target, request, warnings }: NamedCall): { stored: Stored; created: boolean } => {
  const { definition, namespace, name, subresource } = target;
  const object = identified(readObject(request), definition);
  const input = { ...target, options: writeRequest(request), warn: (message: string) => warnings.push(message) };
  const isThere = findObject(context, target) !== undefined;
  if (!isThere && definition.strategy.createsOnUpdate && subresource === undefined) {
    return { stored: createObject(context, { ...input, definition, namespace, name, object }), created: true };
  }
  return { stored: updateObject(context, { ...input, change: () => object, isPut: true }), created: false };
};

const remove = ({ context, target, request, render }: NamedCall): HttpResponse => {
  const options = deleteRequest(request, request.body === '' ? undefined : parseBody(request.body));
  return jsonResponse(200, deleteObject(context, { ...target, options }), render);
};

const bind = ({ context, target, request, render }: NamedCall): HttpResponse => {
  if (request.method !== 'POST') throw methodNotAllowed();
  return jsonResponse(201, bindPod(context, target, request), render);
};

const refuseMethod = (): never => {
  throw methodNotAllowed();
};

const objectResponse = (
  status: number,
  { definition }: Target,
  stored: Stored,
  render: RenderOptions,
  warnings: readonly string[],
): HttpResponse => respond(status, renderObject(definition, stored, render), render, warnings);

const jsonResponse = (status: number, body: JsonRecord, render: RenderOptions): HttpResponse =>
  respond(status, JSON.stringify(body), { ...render, format: { as: 'object', encoding: 'json' } }, []);

const respond = (status: number, body: string, render: RenderOptions, warnings: readonly string[]): HttpResponse => ({
  status,
  headers: {
    'content-type': contentTypeOf(render),
    ...(warnings.length === 0 ? {} : { warning: warnings.map(warning).join(', ') }),
  },
  body,
});

const contentTypeOf = ({ format }: RenderOptions): string => `application/${format.encoding}`;

/** RFC 7234 §5.5. */
const warning = (message: string): string => `299 - "${message.replaceAll(/["\\]/g, '\\$&')}"`;
