/**
 * What a pod has been given stays its own while it lives: an annotation that somebody damages or takes away must not take
 * the network from a pod that runs. What is lost is written again. What belongs to another pod is not kept: two ports with one address would be
 * open, and an agent that restarts would close this one.
 */
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import type { PodFact } from '../model/facts.ts';

/**
 * @param before what was known of the pod, or of another one of its name
 * @param refusalOf why an entry that it had is another pod's now
 */
export const withKeptNetworks = (
  before: PodFact | undefined,
  after: PodFact,
  refusalOf: (nadKey: string, entry: PodNetworkEntry) => string | undefined = () => undefined,
): PodFact => {
  if (before?.uid !== after.uid || after.finished) return after;
  const gone = [...before.networks].filter(([nadKey]) => !after.networks.has(nadKey));
  if (gone.length === 0) return after;
  const taken = new Map(
    gone.flatMap(([nadKey, entry]): [string, string][] => {
      const why = refusalOf(nadKey, entry);
      return why === undefined ? [] : [[nadKey, why]];
    }),
  );
  const kept = [...before.networks].filter(([nadKey]) => !taken.has(nadKey));
  const lost = new Set(gone.flatMap(([nadKey]) => (taken.has(nadKey) ? [] : [nadKey])));
  return {
    ...after,
    networks: new Map([...kept, ...after.networks]),
    ...(lost.size > 0 && { lost }),
    ...(taken.size > 0 && { refused: new Map([...(after.refused ?? []), ...taken]) }),
  };
};
