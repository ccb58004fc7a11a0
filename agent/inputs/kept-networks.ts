/**
 * What a pod has been given stays its own while it lives: an annotation that somebody damages or takes away must not take
 * the network from a pod that runs. What is lost is written again.
 */
import type { PodFact } from '../model/facts.ts';

/** @param before what was known of the pod, or of another one of its name */
export const withKeptNetworks = (before: PodFact | undefined, after: PodFact): PodFact => {
  if (before?.uid !== after.uid || after.finished) return after;
  const lost = new Set([...before.networks.keys()].filter((nadKey) => !after.networks.has(nadKey)));
  return lost.size === 0 ? after : { ...after, networks: new Map([...before.networks, ...after.networks]), lost };
};
