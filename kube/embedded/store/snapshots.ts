/** Lists that are being read page by page: what the later pages of a consistent list come from. */
import type { Stored } from './store.ts';

export interface Snapshots {
  keep(collection: string, revision: number, objects: readonly Stored[]): void;
  find(collection: string, revision: number): readonly Stored[] | undefined;
  clear(): void;
}

/** The oldest goes first; its readers get the error that their token has expired. */
const MAX_SNAPSHOTS = 64;

export const createSnapshots = (): Snapshots => {
  const lists = new Map<string, readonly Stored[]>();
  return {
    keep: (collection, revision, objects) => {
      lists.set(`${collection}@${revision}`, objects);
      const [oldest] = lists.keys();
      if (lists.size > MAX_SNAPSHOTS && oldest !== undefined) lists.delete(oldest);
    },
    find: (collection, revision) => lists.get(`${collection}@${revision}`),
    clear: () => lists.clear(),
  };
};
