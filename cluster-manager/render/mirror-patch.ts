/**
 * Changes a mirror to what it should be. Pure. Its endpoints and ports are ours altogether. In its metadata others may have labels,
 * annotations and owners, which stay: only what we own and no longer desire is deleted.
 */
import { jsonEqual } from '../../kube/json-equal.ts';
import type { SliceFacts } from '../facts/slice-facts.ts';
import type { MirroredSlice } from './mirrored-slice.ts';

/** What of the actual slice decides. */
export type ActualMirror = Pick<SliceFacts, 'metadata' | 'addressType' | 'endpoints' | 'ports' | 'owned'>;

/** True when the slice says all that the mirror says, and nothing else of what is ours. */
export const isMirrored = (actual: ActualMirror, desired: MirroredSlice): boolean =>
  actual.addressType === desired.addressType &&
  mapIsRight(actual, desired, 'labels') &&
  mapIsRight(actual, desired, 'annotations') &&
  jsonEqual(actual.metadata.ownerReferences, ownerReferences(actual, desired)) &&
  jsonEqual(actual.endpoints, desired.endpoints) &&
  jsonEqual(actual.ports, desired.ports);

/**
 * A JSON merge patch (RFC 7386) with all that we desire, not only what differs: the actual slice may be older than what we wrote last.
 * What such a slice does not show to be surplus is found when its next version arrives (`isMirrored`).
 */
export const mirrorPatch = (
  actual: Pick<ActualMirror, 'metadata' | 'owned'>,
  desired: MirroredSlice,
): Readonly<Record<string, unknown>> => ({
  metadata: {
    labels: { ...nulls(surplus(actual, desired, 'labels')), ...desired.metadata.labels },
    annotations: { ...nulls(surplus(actual, desired, 'annotations')), ...desired.metadata.annotations },
    ownerReferences: ownerReferences(actual, desired),
  },
  endpoints: desired.endpoints,
  ports: desired.ports,
});

type MapField = 'labels' | 'annotations';

const mapIsRight = (actual: ActualMirror, desired: MirroredSlice, field: MapField): boolean =>
  Object.entries(desired.metadata[field]).every(([key, value]) => actual.metadata[field][key] === value) &&
  surplus(actual, desired, field).length === 0;

const surplus = (
  { metadata, owned }: Pick<ActualMirror, 'metadata' | 'owned'>,
  desired: MirroredSlice,
  field: MapField,
): string[] => owned[field].filter((key) => key in metadata[field] && !(key in desired.metadata[field]));

/** Ours first: the list is one value to a merge patch, so that of others is repeated. */
const ownerReferences = (
  { metadata, owned }: Pick<ActualMirror, 'metadata' | 'owned'>,
  desired: MirroredSlice,
): readonly unknown[] => {
  const own = new Set([...owned.ownerReferences, ...desired.metadata.ownerReferences.map(({ uid }) => uid)]);
  return [...desired.metadata.ownerReferences, ...metadata.ownerReferences.filter(({ uid }) => !own.has(uid))];
};

const nulls = (keys: readonly string[]): Record<string, null> => Object.fromEntries(keys.map((key) => [key, null]));
