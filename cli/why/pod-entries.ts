/** What the annotation of a pod says of its networks, read entry by entry. */
import { annotationOf } from '../../api/annotations/annotation-of.ts';
import { type PodNetworkEntry, parsePodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import { ApiError } from '../../api/errors.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { parseJson } from '../../api/parse.ts';
import type { PodFacts } from '../../cluster-manager/facts/pod-facts.ts';

/** By the key of a NAD; an error instead of what cannot be read. */
export type PodEntries = ReadonlyMap<string, PodNetworkEntry | ApiError>;

/** An error: nothing of it can be read. */
export const podEntries = ({ key, annotations }: Pick<PodFacts, 'key' | 'annotations'>): PodEntries | ApiError => {
  const text = annotations.networks;
  if (text === undefined || text === '') return new Map();
  const object = annotationOf('Pod', POD_ANNOTATIONS.networks, key);
  try {
    const value = parseJson(text, object);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return new ApiError('ERR_API_FIELD', 'must be a map', { object });
    }
    return new Map(Object.entries(value).map(([nadKey, entry]) => [nadKey, readEntry(entry, key)]));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};

const readEntry = (value: unknown, pod: string): PodNetworkEntry | ApiError => {
  try {
    return parsePodNetworkEntry(value, pod);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};
