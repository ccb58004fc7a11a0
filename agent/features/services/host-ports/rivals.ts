/**
 * Which pod has a port that several ask for: the oldest of those whose port can be open here. By age, which is the same after a restart, on
 * every try and in `udnctl render`: one that has no address yet keeps its port, so that it closes no younger pod's when it has.
 */
import { type HostPort, isLoopback, isUnspecified, MOST_HOST_PORTS_OF_NODE } from '../../../../api/host-ports.ts';
import { ipFamily } from '../../../../net/ip.ts';
import { type HostPortClaim, hostPortId, podKey } from '../../../model/facts.ts';
import type { View } from '../../../model/view.ts';
import { impossible, type Place, placeOf } from './place.ts';

/** Undefined: the pod has it. Pods of other namespaces are not named. */
export const rival = (asked: HostPort, place: Place, view: View): string | undefined => {
  const own = podKey(place.pod);
  const claims = view.hostPortClaims(hostPortId(asked.protocol, asked.hostPort));
  const at = claims.findIndex(({ pod, hostIp }) => pod === own && hostIp === asked.hostIp);
  if (at < 0) return `the pods of a node have at most ${MOST_HOST_PORTS_OF_NODE}`;
  const network = place.network.name;
  const winner = winnersOf(claims.slice(0, at), asked, view).find((one) => collide(asked, one, network));
  if (winner === undefined) return undefined;
  if (winner.pod === own) return 'the pod asks for it twice';
  const what = winner.isOpen ? 'has it' : 'asks for it';
  return winner.pod.startsWith(`${place.pod.namespace}/`)
    ? `the older pod ${winner.pod} ${what}`
    : `an older pod of another namespace ${what}`;
};

interface Winner extends HostPortClaim {
  /** Undefined: of the node itself, or unknown yet. */
  readonly network: string | undefined;
  readonly isOpen: boolean;
}

/** They are few, whatever claims there are: for most of these it takes no look at their pods. */
const winnersOf = (claims: readonly HostPortClaim[], asked: HostPort, view: View): readonly Winner[] => {
  const winners: Winner[] = [];
  for (const claim of claims) {
    if (winners.some((one) => collide(claim, one, undefined))) continue;
    const candidate = candidateOf(claim, asked, view);
    if (candidate !== undefined && !winners.some((one) => collide(claim, one, candidate.network)))
      winners.push(candidate);
  }
  return winners;
};

const candidateOf = (claim: HostPortClaim, { protocol, hostPort }: HostPort, view: View): Winner | undefined => {
  const pod = view.pod(claim.pod);
  if (pod === undefined) return undefined;
  if (pod.hostNetwork) return { ...claim, network: undefined, isOpen: true };
  const place = placeOf(pod, view);
  if (place === undefined) return { ...claim, network: undefined, isOpen: false };
  const one = { protocol, hostPort, containerPort: hostPort, hostIp: claim.hostIp };
  return impossible(one, place, view) === undefined
    ? { ...claim, network: place.network.name, isOpen: true }
    : undefined;
};

/**
 * The scheduler's rule (`HostPortInfo.CheckConflict`), by family. And two different addresses of the node on one network: what the host
 * sends to either of them goes to one address of its load balancers.
 */
const collide = (
  { hostIp: a }: Pick<HostPort, 'hostIp'>,
  { hostIp: b, network: other }: Winner,
  network: string | undefined,
): boolean => {
  if (a === undefined || b === undefined) return true;
  if (ipFamily(a) !== ipFamily(b)) return false;
  if (isUnspecified(a) || isUnspecified(b) || a === b) return true;
  return network !== undefined && network === other && isLoopback(a) === isLoopback(b);
};
