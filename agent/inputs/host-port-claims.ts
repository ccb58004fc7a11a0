/**
 * Which pods of this node ask for a port of it, the oldest first. The scheduler keeps two that collide apart, and a kubelet refuses the
 * second one; who writes `nodeName` himself goes around the first. Those beyond what a node has are no claims: the youngest of the namespaces with the most.
 */
import { MOST_HOST_PORTS_OF_NODE } from '../../api/host-ports.ts';
import type { FactStore } from '../model/fact-store.ts';
import { type HostPortClaim, hostPortId, type PodFact } from '../model/facts.ts';

export class HostPortClaims {
  readonly #facts: FactStore;
  /** By pod. Nearly no pod is in it. */
  readonly #claimants = new Map<string, Claimant>();
  /** By pod: of how many of its ports there are claims, and the ids of these. */
  readonly #claimed = new Map<string, Claimed>();

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** @param key `namespace/name` @param fact undefined when the pod is gone */
  set(key: string, fact: PodFact | undefined, createdAt: string): void {
    const before = this.#claimants.get(key);
    const after = claimantOf(fact, createdAt);
    if (before === undefined && after === undefined) return;
    if (after === undefined) this.#claimants.delete(key);
    else this.#claimants.set(key, after);
    if (isAsMany(before, after)) {
      this.#publish(key, this.#claimed.get(key)?.count ?? 0);
      return;
    }
    if (after === undefined) this.#publish(key, 0);
    for (const [pod, count] of sharesOf(this.#claimants))
      if (pod === key || count !== this.#claimed.get(pod)?.count) this.#publish(pod, count);
  }

  #publish(key: string, count: number): void {
    const claimant = this.#claimants.get(key);
    const byId = Map.groupBy(claimsOf(key, claimant, count), ({ id }) => id);
    const before = this.#claimed.get(key)?.ids ?? new Set<string>();
    const ids: ReadonlySet<string> = new Set(byId.keys());
    if (claimant === undefined) this.#claimed.delete(key);
    else this.#claimed.set(key, { count, ids });
    for (const id of ids.union(before)) {
      const others = (this.#facts.get('hostPortClaims', id) ?? []).filter(({ pod }) => pod !== key);
      const own = (byId.get(id) ?? []).map(({ claim }) => claim);
      const all = [...others, ...own].sort(byAge);
      this.#facts.set('hostPortClaims', id, all.length === 0 ? undefined : all);
    }
  }
}

interface Claimant extends Pick<PodFact, 'hostNetwork'> {
  readonly createdAt: string;
  readonly ports: NonNullable<PodFact['hostPorts']>;
}

interface Claimed {
  readonly count: number;
  readonly ids: ReadonlySet<string>;
}

const claimantOf = (fact: PodFact | undefined, createdAt: string): Claimant | undefined => {
  const { hostPorts: ports = [], finished = true, hostNetwork = false } = fact ?? {};
  return finished || ports.length === 0 ? undefined : { createdAt, hostNetwork, ports };
};

const isAsMany = (a: Claimant | undefined, b: Claimant | undefined): boolean =>
  a?.createdAt === b?.createdAt && a?.hostNetwork === b?.hostNetwork && a?.ports.length === b?.ports.length;

/**
 * Of the namespace that asks for the fewest first: one that asks for all that a node has takes nothing from the others. A host-network pod
 * has its ports whatever we say, and they cost nothing.
 */
const sharesOf = (claimants: ReadonlyMap<string, Claimant>): [string, number][] => {
  const totals = new Map<string, number>();
  for (const [pod, { hostNetwork, ports }] of claimants) {
    const namespace = namespaceOf(pod);
    if (!hostNetwork) totals.set(namespace, (totals.get(namespace) ?? 0) + ports.length);
  }
  const inOrder = [...claimants].map(([pod, claimant]) => ({
    ...{ pod, claimant, age: `${claimant.createdAt} ${pod}` },
    total: totals.get(namespaceOf(pod)) ?? 0,
  }));
  let left: number = MOST_HOST_PORTS_OF_NODE;
  return inOrder
    .sort((a, b) => a.total - b.total || (a.age < b.age ? -1 : 1))
    .map(({ pod, claimant: { hostNetwork, ports } }) => {
      const count = hostNetwork ? ports.length : Math.min(ports.length, left);
      if (!hostNetwork) left -= count;
      return [pod, count];
    });
};

const claimsOf = (
  pod: string,
  claimant: Claimant | undefined,
  count: number,
): { readonly id: string; readonly claim: HostPortClaim }[] =>
  (claimant?.ports ?? []).slice(0, count).map(({ protocol, hostPort, hostIp }) => ({
    id: hostPortId(protocol, hostPort),
    claim: { pod, createdAt: claimant?.createdAt ?? '', ...(hostIp !== undefined && { hostIp }) },
  }));

const byAge = (a: HostPortClaim, b: HostPortClaim): number => (ageOf(a) < ageOf(b) ? -1 : 1);
const ageOf = ({ createdAt, pod, hostIp }: HostPortClaim): string => `${createdAt} ${pod} ${hostIp ?? ''}`;

const namespaceOf = (pod: string): string => pod.slice(0, pod.indexOf('/'));
