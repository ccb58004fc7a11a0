/** Networks that a pod cannot be on together: ADD refuses the pod, and says so. Pure. */
import { cidrsOverlap } from '../../../net/cidr.ts';
import { rangesOf } from '../../model/attachments.ts';
import type { NetworkFact } from '../../model/facts.ts';
import type { DesiredAttachment } from './selected.ts';

/**
 * A pod routes by destination: of two networks with the same addresses it reaches one (OKEP-5193, "Conflicting IPs"). What primary networks
 * may have in common with the default one is checked where they are made.
 * @param attachments all of the pod's @returns a message for each pair of ranges
 */
export const overlapsOf = (attachments: readonly DesiredAttachment[]): readonly string[] => {
  if (attachments.every(({ selection }) => selection === undefined)) return [];
  const networks = [...new Map(attachments.map(({ network }) => [network.name, network])).values()];
  return networks.flatMap((one, position) =>
    networks
      .slice(position + 1)
      .filter((other) => one.role === 'secondary' || other.role === 'secondary')
      .flatMap((other) => overlap(one, other)),
  );
};

const overlap = (one: NetworkFact, other: NetworkFact): string[] =>
  rangesOf(one).flatMap((a) =>
    rangesOf(other)
      .filter((b) => cidrsOverlap(a, b))
      .map((b) => `${a} of network ${one.name} overlaps ${b} of network ${other.name}: a pod reaches only one of them`),
  );
