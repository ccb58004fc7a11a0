/** Reads a whole list, page by page. */
import { isGone } from '../errors.ts';
import type { KubeClient, KubeList, KubeObject, ListOptions, ResourceType } from '../types.ts';

export interface ListAllOptions extends Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  readonly pageSize: number;
}

export interface ListSummary {
  /** Where a watch goes on. */
  readonly resourceVersion: string;
  readonly items: number;
  readonly pages: number;
}

/**
 * Calls `each` for every object, in pages so that neither the server nor we hold everything at once, but two pages. When the server
 * forgets the list between two pages (410), everything is read once more, in one piece: objects may be seen twice, the
 * later time is the newer one.
 * @param restart is called before that: what was seen so far may be gone
 */
export const listAll = async (
  client: Pick<KubeClient, 'list'>,
  resource: ResourceType,
  { pageSize, ...selection }: ListAllOptions,
  each: (object: KubeObject) => void,
  restart: () => void,
  signal?: AbortSignal,
): Promise<ListSummary> => {
  try {
    return await readPages(client, resource, { ...selection, limit: pageSize }, each, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
    restart();
    return await readPages(client, resource, selection, each, signal);
  }
};

const readPages = async (
  client: Pick<KubeClient, 'list'>,
  resource: ResourceType,
  options: ListOptions,
  each: (object: KubeObject) => void,
  signal: AbortSignal | undefined,
): Promise<ListSummary> => {
  let summary = { items: 0, pages: 0, resourceVersion: '' };
  const pageAfter = (token: string | undefined): Promise<KubeList> =>
    client.list(resource, { ...options, continue: token }, signal);
  for (let next: Promise<KubeList> | undefined = pageAfter(undefined); next !== undefined; ) {
    const { items, resourceVersion, continue: token }: KubeList = await next;
    // The server works on it while we read this one.
    next = token === undefined ? undefined : pageAfter(token);
    // It is awaited in the next turn; when `each` throws it never is.
    next?.catch(() => {});
    for (const object of items) each(object);
    summary = { items: summary.items + items.length, pages: summary.pages + 1, resourceVersion };
  }
  return summary;
};
