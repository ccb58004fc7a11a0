/** Values of the columns of `kubectl get`. */
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import type { Column } from '../definitions/types.ts';

/** The value at a path of field names. */
export const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);

export const listAt = (object: unknown, path: string): JsonRecord[] => {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter(isRecord) : [];
};

/** As k8s.io/apimachinery util/duration prints ages: `12s`, `3m4s`, `5h`, `6d`. */
export const humanDuration = (milliseconds: number): string => {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return withRest(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 365 * 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
};

const withRest = (value: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;

export const age = (timestamp: unknown, now: number): string => {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(time) ? '<unknown>' : humanDuration(now - time);
};

export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  value: (object) => at(object, 'metadata.name'),
};

export const AGE: Column = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  value: (object, now) => age(at(object, 'metadata.creationTimestamp'), now),
};

/** A column that shows one field; what is absent is shown as kubectl shows nothing. */
export const field = (name: string, path: string, priority = 0): Column => ({
  name,
  type: 'string',
  priority,
  value: (object) => text(at(object, path)),
});

export const text = (value: unknown): string => {
  if (value === undefined || value === null || value === '') return '<none>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

export const joined = (values: readonly unknown[]): string => (values.length === 0 ? '<none>' : values.join(','));

/** `a=b,c=d`, as selectors are shown. */
export const pairs = (value: unknown): string =>
  joined(Object.entries(recordOr(value)).map(([key, own]) => `${key}=${String(own)}`));
