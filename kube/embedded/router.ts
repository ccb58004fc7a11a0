/** From a request to its response. Everything that is wrong with a request becomes a Status. */
import type { JsonRecord } from '../is-record.ts';
import type { ServerContext } from './context.ts';
import { aggregatedVersion, groupDiscoveryList } from './discovery/aggregated.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery/legacy.ts';
import { openApiDocument, openApiIndex, openApiV2 } from './discovery/open-api.ts';
import { versionInfo } from './discovery/version.ts';
import type { HttpRequest, HttpResponse } from './requests/types.ts';
import { splitUrl } from './requests/url.ts';
import { handleResource } from './resource-handler.ts';
import { noSuchPath, StatusError, statusOf } from './status-error.ts';
import type { LineCache } from './verbs/line-cache.ts';
import { ListExpired } from './verbs/list.ts';

/** A request as it came. */
export interface RawRequest extends Omit<HttpRequest, 'segments' | 'query'> {
  /** With query. */
  readonly path: string;
}

export type Handler = (request: RawRequest) => HttpResponse;

export const createHandler =
  (context: ServerContext, lines: LineCache): Handler =>
  ({ path, ...request }) => {
    try {
      return route(context, lines, { ...request, ...splitUrl(path) });
    } catch (error) {
      return errorResponse(error);
    }
  };

const route = (context: ServerContext, lines: LineCache, request: HttpRequest): HttpResponse => {
  const [root = '', ...rest] = request.segments;
  if (HEALTH.has(root)) return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'ok' };
  if (root === 'version') return json(versionInfo());
  if (root === 'openapi') return openApi(context, rest);
  const depth = root === 'api' ? 2 : root === 'apis' ? 3 : 0;
  if (depth === 0) throw noSuchPath();
  return request.segments.length > depth ? handleResource(context, lines, request) : discovery(context, request);
};

const HEALTH: ReadonlySet<string> = new Set(['healthz', 'livez', 'readyz']);

/** Health checks ask for no token. */
export const isHealthCheck = (path: string): boolean => HEALTH.has(/^\/([a-z]+)/.exec(path)?.[1] ?? '');

const discovery = ({ registry }: ServerContext, { segments, headers }: HttpRequest): HttpResponse => {
  const [root, first, second] = segments;
  const definitions = registry.all();
  const version = aggregatedVersion(headers['accept'] ?? '');
  if (first === undefined && version !== undefined) {
    const list = groupDiscoveryList(definitions, { core: root === 'api', version });
    return json(list, `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
  }
  if (root === 'api') {
    return first === undefined ? json(apiVersions()) : found(apiResourceList(definitions, '', first));
  }
  if (first === undefined) return json(apiGroupList(definitions));
  return found(second === undefined ? apiGroup(definitions, first) : apiResourceList(definitions, first, second));
};

const openApi = ({ registry }: ServerContext, [version, ...path]: readonly string[]): HttpResponse => {
  if (version === 'v2') return json(openApiV2());
  if (version !== 'v3') throw noSuchPath();
  return path.length === 0
    ? json(openApiIndex(registry.all()))
    : found(openApiDocument(registry.all(), path.join('/')));
};

const found = (body: JsonRecord | undefined): HttpResponse => {
  if (body === undefined) throw noSuchPath();
  return json(body);
};

const json = (body: JsonRecord, type = 'application/json'): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type },
  body: JSON.stringify(body),
});

export const errorResponse = (error: unknown): HttpResponse => {
  const known = error instanceof StatusError ? error : new StatusError(500, 'InternalError', String(error));
  const retryAfter = known.details?.retryAfterSeconds;
  const status = statusOf(known);
  const body = known instanceof ListExpired ? { ...status, metadata: { continue: known.continue } } : status;
  return {
    status: known.code,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify(body),
  };
};
