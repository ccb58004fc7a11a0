/** `metadata.managedFields`: who owns which fields. */
import { isRecord } from '../../is-record.ts';
import { decodeFields, encodeFields, type FieldSet, isEmpty } from './field-set.ts';

export interface ManagerId {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface Manager extends ManagerId {
  readonly time: string;
  readonly set: FieldSet;
}

/** By `managerKey`. */
export type Managers = ReadonlyMap<string, Manager>;

export const managerKey = ({ manager, operation, apiVersion, subresource }: ManagerId): string =>
  JSON.stringify([manager, operation, apiVersion, subresource]);

export const decodeManagers = (managedFields: unknown): Managers => {
  const entries = (Array.isArray(managedFields) ? managedFields : []).filter(isRecord).filter(isEntry);
  return new Map(
    entries.map((entry) => {
      const id: ManagerId = {
        manager: textOf(entry['manager']),
        operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
        apiVersion: textOf(entry['apiVersion']),
        subresource: textOf(entry['subresource']),
      };
      return [managerKey(id), { ...id, time: textOf(entry['time']), set: decodeFields(entry['fieldsV1']) }];
    }),
  );
};

/** Appliers first, then by time: the order of a real server. */
export const encodeManagers = (managers: Managers): Record<string, unknown>[] =>
  [...managers.values()]
    .filter(({ set }) => !isEmpty(set))
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) || compareText(a.time, b.time) || compareText(a.manager, b.manager),
    )
    .map(({ manager, operation, apiVersion, subresource, time, set }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFields(set),
      ...(subresource === '' ? {} : { subresource }),
    }));

const isEntry = (entry: Readonly<Record<string, unknown>>): boolean =>
  isRecord(entry['fieldsV1']) && typeof entry['manager'] === 'string';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
