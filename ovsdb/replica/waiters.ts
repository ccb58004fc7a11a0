/** Promises for a condition on a row. A change costs one look-up per index of its table, however many wait. */
import { abortable } from '../../base/abort.ts';
import { MultiMap } from '../../base/multi-map.ts';
import type { Uuid } from '../uuid.ts';
import type { AnyRow, RowChange } from './row.ts';
import type { RowIndex } from './row-index.ts';

/** Which row is waited for: by `_uuid`, or by its key in an index. */
export type RowAddress = { readonly uuid: Uuid } | { readonly index: string; readonly key: string };

type Check = () => void;

export class Waiters {
  readonly #waiting = new MultiMap<Check>();

  /**
   * Resolves with what `test` gives, as soon as that is not undefined. It is called now and then whenever a row that
   * has, or had, this address changes; when it throws, so does the result.
   */
  wait<T>(table: string, address: RowAddress, test: () => T | undefined, signal?: AbortSignal): Promise<T> {
    return abortable(signal, (resolve, reject) => {
      const now = test();
      if (now !== undefined) resolve(now);
      const watched = watchKey(table, address);
      const check = (): void => {
        try {
          const result = test();
          if (result !== undefined) resolve(result);
        } catch (error) {
          // It is the test of who waits that is wrong, not what the server sent.
          reject(error);
        }
      };
      if (now === undefined) this.#waiting.add(watched, check);
      return () => this.#waiting.delete(watched, check);
    });
  }

  notify(change: RowChange, indexes: ReadonlyMap<string, RowIndex>): void {
    if (this.#waiting.size === 0) return;
    this.#check(watchKey(change.table, change));
    for (const [index, { keyOf }] of indexes) {
      for (const key of keys(keyOf, change)) this.#check(watchKey(change.table, { index, key }));
    }
  }

  #check(watched: string): void {
    for (const check of [...this.#waiting.get(watched)]) check();
  }
}

const watchKey = (table: string, address: RowAddress): string =>
  'uuid' in address ? `${table}\0${address.uuid}` : `${table}\0${address.index}\0${address.key}`;

const keys = (keyOf: (row: AnyRow) => string | undefined, { before, after }: RowChange): Set<string> => {
  const found = [before, after].map((row) => (row === undefined ? undefined : keyOf(row)));
  return new Set(found.filter((key) => key !== undefined));
};
