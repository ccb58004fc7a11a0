/** Events are stored once and served by two groups, whose field names differ (k8s.io/kubernetes pkg/apis/events/v1). */
import type { JsonRecord } from '../../is-record.ts';
import type { Conversion } from './types.ts';

/** Name in events.k8s.io/v1 → name in v1. */
const RENAMED: Readonly<Record<string, string>> = {
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};

const BACK: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(RENAMED).map(([grouped, core]) => [core, grouped]),
);

export const EVENT_CONVERSION: Conversion = {
  toStored: (object) => ({ ...renamed(object, RENAMED), apiVersion: 'v1' }),
  fromStored: (object) => ({ ...renamed(object, BACK), apiVersion: 'events.k8s.io/v1' }),
};

const renamed = (object: JsonRecord, names: Readonly<Record<string, string>>): JsonRecord =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value]));
