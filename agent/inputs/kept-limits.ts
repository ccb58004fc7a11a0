/**
 * Limits of a pod's bandwidth that an edit of its annotations does not lift: whoever may edit them would have no limit by damaging what they
 * say, or by not selecting a network any more that the pod stays on. A limit that is taken away or changed readably is followed.
 */
import type { Bandwidth } from '../../api/annotations/selection-element.ts';
import type { PodFact } from '../model/facts.ts';

/** @param before what was known of the pod, or of another one of its name @param after with the networks that it has kept */
export const withKeptLimits = (before: PodFact | undefined, after: PodFact): PodFact => {
  if (before?.uid !== after.uid || after.finished) return after;
  const bandwidth = after.unreadableBandwidth === undefined ? after.bandwidth : before.bandwidth;
  const keptLimits = limitsOfUnselected(before, after);
  if (bandwidth === after.bandwidth && keptLimits.size === 0) return after;
  return {
    ...after,
    ...(bandwidth !== undefined && { bandwidth }),
    ...(keptLimits.size > 0 && { keptLimits }),
  };
};

const limitsOfUnselected = (
  { selected: selectedBefore = [], keptLimits = NONE }: PodFact,
  { selected = [], networks }: PodFact,
): ReadonlyMap<string, Bandwidth> => {
  const known = selectedBefore.flatMap(({ nadKey, bandwidth }) =>
    bandwidth === undefined ? [] : [[nadKey, bandwidth] as const],
  );
  if (known.length + keptLimits.size === 0) return NONE;
  const isSelected = new Set(selected.map(({ nadKey }) => nadKey));
  return new Map([...keptLimits, ...known].filter(([nadKey]) => networks.has(nadKey) && !isSelected.has(nadKey)));
};

const NONE: ReadonlyMap<string, Bandwidth> = new Map();
