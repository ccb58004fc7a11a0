/** What a pod's attachments cannot have together: ADD refuses the pod, and says so. Pure. */
import { cidrsOverlap } from '../../../net/cidr.ts';
import type { Selection } from '../../model/attachments.ts';
import type { NetworkFact } from '../../model/facts.ts';
import type { DesiredAttachment } from './selected.ts';

/**
 * @param attachments all of the pod's that are ours
 * @param selected all that it selects, also of other plugins: their interfaces have names, too
 */
export const conflictsOf = (
  attachments: readonly DesiredAttachment[],
  selected: readonly Selection[] = [],
): readonly string[] =>
  selected.length === 0 ? [] : [...namesTakenTwice(attachments, selected), ...overlaps(attachments)];

const namesTakenTwice = (attachments: readonly DesiredAttachment[], selected: readonly Selection[]): string[] => {
  const own = attachments.filter(({ selection }) => selection === undefined);
  const byName = Map.groupBy([...own, ...selected], ({ interfaceName }) => interfaceName);
  return [...byName].flatMap(([name, users]) =>
    users.length < 2 ? [] : [`interface ${name} is requested by ${users.map(({ nadKey }) => nadKey).join(' and ')}`],
  );
};

/**
 * A pod routes by destination: of two networks with the same addresses it reaches one (OKEP-5193, "Conflicting IPs"). What primary networks
 * may have in common with the default one is checked where they are made.
 */
const overlaps = (attachments: readonly DesiredAttachment[]): string[] => {
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

const rangesOf = ({ subnets, joinSubnets }: NetworkFact) => [...subnets.map(({ cidr }) => cidr), ...joinSubnets];
