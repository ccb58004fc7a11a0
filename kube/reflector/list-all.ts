/** Reads a whole list, page by page. */
import { isGone } from '../errors.ts';
import type { KubeClient, KubeObject, ListOptions, ResourceType } from '../types.ts';

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
 * Calls `each` for every object, in pages so that neither the server nor we hold everything at once. When the server
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
  let next: string | undefined;
  do {
    const page = await client.list(resource, { ...options, continue: next }, signal);
    for (const object of page.items) each(object);
    summary = {
      items: summary.items + page.items.length,
      pages: summary.pages + 1,
      resourceVersion: page.resourceVersion,
    };
    next = page.continue;
  } while (next !== undefined);
  return summary;
};
