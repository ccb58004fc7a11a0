/** meta/v1 Table: what `kubectl get` prints. */
import type { JsonRecord } from '../../is-record.ts';
import type { Column, ResourceDefinition } from '../definitions/types.ts';
import type { ListMetadata } from '../requests/render.ts';
import type { Stored } from '../store/store.ts';

export interface TableOptions {
  readonly now: number;
  /** `Metadata`, `Object` or `None`. */
  readonly includeObject: string;
  readonly metadata: ListMetadata;
  readonly headers: boolean;
}

export const tableOf = (
  { columns }: ResourceDefinition,
  items: readonly Stored[],
  { now, includeObject, metadata, headers }: TableOptions,
): JsonRecord => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
  columnDefinitions: headers ? columns.map(header) : null,
  rows: items.map(({ object }) => ({
    cells: columns.map((column) => column.value(object, now) ?? null),
    ...rowObject(object, includeObject),
  })),
});

const header = ({ name, type, format = '', description = '', priority = 0 }: Column): JsonRecord => ({
  name,
  type,
  format,
  description,
  priority,
});

const rowObject = (object: JsonRecord, include: string): JsonRecord => {
  if (include === 'None') return {};
  if (include === 'Object') return { object };
  return {
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] },
  };
};
