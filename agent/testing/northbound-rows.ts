/** Rows of the northbound database that a cluster renders. */
import type { DocumentRow } from '../render/document.ts';
import type { TestCluster } from './cluster.ts';

export const rows = (it: TestCluster, table: string): readonly DocumentRow[] => it.render().northbound[table] ?? [];
export const row = (it: TestCluster, table: string, name: string): DocumentRow | undefined =>
  rows(it, table).find((one) => one['name'] === name);
export const ids = (one: DocumentRow | undefined): Record<string, string> => (one?.['external_ids'] ?? {}) as never;
