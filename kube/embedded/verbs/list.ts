/** GET of a collection: consistent lists in pages (Kubernetes API concepts, "Retrieving large results sets in chunks"). */
import type { ServerContext } from '../context.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import type { ListMetadata } from '../requests/render.ts';
import type { HttpRequest, Target } from '../requests/types.ts';
import { badRequest, expired, StatusError } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { type Selection, selectionOf } from './select.ts';

export interface ListResult {
  readonly items: readonly Stored[];
  readonly metadata: ListMetadata;
}

/** @throws StatusError 400, 410 or 504 */
export const listObjects = (context: ServerContext, target: Target, request: HttpRequest): ListResult => {
  const { query } = request;
  const selection = selectionOf(target, request);
  const limit = Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY;
  const token = query.get('continue');
  if (token !== null && token !== '') return nextPage(context, target, selection, limit, token, query);
  const revision = checkVersion(context, target, query);
  const source = sourceAt(context, target.definition, revision, selection, '');
  return page(context, target, selection, { source, revision, limit });
};

interface PageInput {
  readonly source: readonly Stored[];
  readonly revision: number;
  readonly limit: number;
}

const page = (
  context: ServerContext,
  { definition }: Target,
  selection: Selection,
  { source, revision, limit }: PageInput,
): ListResult => {
  const matching = source.filter(selection.matches);
  const items = matching.slice(0, limit);
  const rest = matching.length - items.length;
  if (rest === 0) return { items, metadata: { resourceVersion: String(revision) } };
  if (context.snapshots.find(definition.collection, revision) === undefined) {
    context.snapshots.keep(definition.collection, revision, context.store.collection(definition.collection).range(''));
  }
  const last = items.at(-1)?.key ?? '';
  return {
    items,
    metadata: {
      resourceVersion: String(revision),
      continue: encodeToken({ revision, after: last }),
      ...(selection.isFiltered ? {} : { remainingItemCount: rest }),
    },
  };
};

const nextPage = (
  context: ServerContext,
  target: Target,
  selection: Selection,
  limit: number,
  text: string,
  query: URLSearchParams,
): ListResult => {
  const token = decodeToken(text);
  const version = query.get('resourceVersion') ?? '';
  if (version !== '' && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  // A token without a version was given out with a 410: what is left, as it is now.
  const revision = token.revision < 0 ? context.store.revision : token.revision;
  const { collection } = target.definition;
  const known = context.snapshots.find(collection, revision);
  if (known === undefined && revision !== context.store.revision) throw tokenExpired(token.after);
  const source = sourceAt(context, target.definition, revision, selection, token.after);
  return page(context, target, selection, { source, revision, limit });
};

/** The objects of a revision, which is the current one or has a snapshot. */
const sourceAt = (
  { store, snapshots }: ServerContext,
  { collection, namespaced }: ResourceDefinition,
  revision: number,
  { namespace, name }: Selection,
  after: string,
): readonly Stored[] => {
  if (revision !== store.revision) {
    return (snapshots.find(collection, revision) ?? []).filter(({ key }) => key > after);
  }
  if (name === undefined || namespaced !== (namespace !== '')) {
    return store.collection(collection).range(namespace, after);
  }
  const found = store.collection(collection).get(namespaced ? `${namespace}/${name}` : name);
  return found === undefined || found.key <= after ? [] : [found];
};

/** @returns the revision to read at */
const checkVersion = ({ store, snapshots }: ServerContext, target: Target, query: URLSearchParams): number => {
  const text = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch');
  if (text === '') {
    if (match !== null && match !== '')
      throw badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided');
    return store.revision;
  }
  const version = parseVersion(text);
  if (version > store.revision) throw tooLarge(version, store.revision);
  if (match !== 'Exact' || version === store.revision) return store.revision;
  if (snapshots.find(target.definition.collection, version) !== undefined) return version;
  throw expired('The resourceVersion for the provided list is too old.');
};

/** @throws StatusError 400 */
export const parseVersion = (text: string): number => {
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(`resourceVersion: Invalid value: "${text}": invalid resource version`);
};

const tooLarge = (version: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${version}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

interface Token {
  readonly revision: number;
  readonly after: string;
}

const encodeToken = ({ revision, after }: Token): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: after })).toString('base64url');

const decodeToken = (text: string): Token => {
  try {
    const { rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof rv === 'number' && typeof start === 'string') return { revision: rv, after: start };
  } catch {}
  throw badRequest('continue key is not valid');
};

/** The error carries a token for whoever does without consistency. */
export class ListExpired extends StatusError {
  readonly continue: string;

  constructor(token: string) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    this.continue = token;
  }
}

const tokenExpired = (after: string): ListExpired => new ListExpired(encodeToken({ revision: -1, after }));
