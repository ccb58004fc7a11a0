/** What is true of a running pod's bandwidth while its annotations cannot be read. An agent that starts meanwhile has no limits to keep. */
import type { PodFact } from '../../model/facts.ts';

/** Why the pod is refused, and which limits it has where it runs already. */
export const unreadableReasons = (pod: PodFact): readonly string[] => {
  const { unreadableSelection, unreadableBandwidth, bandwidth, keptLimits = NONE, networks } = pod;
  const inEffect = (text: string): string => (networks.size === 0 ? '' : `; until it can be read, ${text}`);
  const kept = [...keptLimits.keys()].join(', ');
  return [
    ...(unreadableSelection === undefined
      ? []
      : [
          `${unreadableSelection}${inEffect(
            kept === ''
              ? 'what it selected has no limits of bandwidth'
              : `what it selected keeps the limits of ${kept}`,
          )}`,
        ]),
    ...(unreadableBandwidth === undefined
      ? []
      : [
          `${unreadableBandwidth}${inEffect(
            bandwidth === undefined ? 'its primary interface has no limits' : 'its primary interface keeps its limits',
          )}`,
        ]),
  ];
};

const NONE: ReadonlyMap<string, unknown> = new Map();
