/**
 * Which keys of a pod's `k8s.ovn.org/pod-networks` count. The agent of its node writes to that annotation as well, so that a
 * key alone proves nothing: it has to be of a NAD of the pod's own namespace, or of one that the pod asks for. A pod that is there keeps
 * what it has of its own namespace whatever becomes of its selection.
 */
import { attachmentsOf, MOST_SELECTIONS, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import { ApiError } from '../../api/errors.ts';

/** The NAD keys that a pod selects, `ns/nad/1` for a second attachment; undefined when that can't be read. */
export const selectedKeys = (selection: string | undefined, pod: string): readonly string[] | undefined => {
  if (selection === undefined) return [];
  try {
    return attachmentsOf(parseNetworkSelections(selection, pod)).map(({ nadKey }) => nadKey);
  } catch (error) {
    // The pod's owner gets an event where its addresses are allocated.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};

/**
 * @param selected undefined: the pod may have asked for any, but not for more than it can select
 * @returns `annotated` itself when all of them count, which is so with most pods
 */
export const attachedKeys = (
  namespace: string,
  annotated: readonly string[] | undefined,
  selected: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (annotated === undefined) return undefined;
  let foreign = 0;
  const counts = (key: string): boolean => {
    if (!key.includes('/')) return true;
    if (!isAttachment(key)) return false;
    if (key.startsWith(`${namespace}/`) || selected?.includes(key) === true) return true;
    if (selected !== undefined) return false;
    foreign += 1;
    return foreign <= MOST_SELECTIONS;
  };
  const counting = annotated.filter(counts);
  return counting.length === annotated.length ? annotated : counting;
};

/** `ns/nad/1` is a second attachment to `ns/nad`. */
export const withoutAttachment = (key: string): string => {
  const second = key.indexOf('/', key.indexOf('/') + 1);
  return second < 0 ? key : key.slice(0, second);
};

/** A pod has so many attachments of one NAD at most. */
const isAttachment = (key: string): boolean => {
  const nad = withoutAttachment(key);
  if (nad === key) return true;
  const position = key.slice(nad.length + 1);
  return /^[1-9][0-9]?$/.test(position) && Number(position) < MOST_SELECTIONS;
};
