/**
 * Which pods of this node ask for a port of it, the oldest first. The scheduler keeps two that collide apart, and a kubelet refuses the
 * second one; who writes `nodeName` himself goes around the first.
 */
import type { FactStore } from '../model/fact-store.ts';
import { type HostPortClaim, hostPortId, type PodFact, podKey } from '../model/facts.ts';

export class HostPortClaims {
  readonly #facts: FactStore;
  /** By pod: ids of ports that it claims. Nearly no pod is in it. */
  readonly #claimed = new Map<string, ReadonlySet<string>>();

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** @param key `namespace/name` @param fact undefined when the pod is gone */
  set(key: string, fact: PodFact | undefined, createdAt: string): void {
    const after = fact === undefined || fact.finished ? [] : claimsOf(fact, createdAt);
    const before = this.#claimed.get(key);
    if (after.length === 0 && before === undefined) return;
    const byId = Map.groupBy(after, ({ id }) => id);
    const ids: ReadonlySet<string> = new Set(byId.keys());
    if (ids.size === 0) this.#claimed.delete(key);
    else this.#claimed.set(key, ids);
    for (const id of ids.union(before ?? new Set<string>())) {
      const others = (this.#facts.get('hostPortClaims', id) ?? []).filter(({ pod }) => pod !== key);
      const own = (byId.get(id) ?? []).map(({ claim }) => claim);
      const all = [...others, ...own].sort(byAge);
      this.#facts.set('hostPortClaims', id, all.length === 0 ? undefined : all);
    }
  }
}

const claimsOf = (fact: PodFact, createdAt: string): { readonly id: string; readonly claim: HostPortClaim }[] =>
  (fact.hostPorts ?? []).map(({ protocol, hostPort, hostIp }) => ({
    id: hostPortId(protocol, hostPort),
    claim: { pod: podKey(fact), createdAt, ...(hostIp !== undefined && { hostIp }) },
  }));

const byAge = (a: HostPortClaim, b: HostPortClaim): number => (ageOf(a) < ageOf(b) ? -1 : 1);
const ageOf = ({ createdAt, pod, hostIp }: HostPortClaim): string => `${createdAt} ${pod} ${hostIp ?? ''}`;
