/**
 * Which networks the pods of this node are attached to, as facts. A network that no pod uses any more stays for a while: a
 * pod that is deleted is mostly followed by another one, and making a network costs OVN far more than keeping it.
 */
import type { Clock } from '../../kube/clock.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { AttachmentRegistry } from './registry.ts';

interface NetworkUsageOptions {
  readonly facts: FactStore;
  readonly registry: AttachmentRegistry;
  readonly clock: Clock;
  /** How long a network stays after its last pod. */
  readonly graceMs: number;
}

/** Keeps the facts of kind `networkInUse` current. @returns what ends it */
export const followNetworkUsage = ({ facts, registry, clock, graceMs }: NetworkUsageOptions): (() => void) => {
  const podsOf = new Map<string, Set<string>>();
  const networksOf = new Map<string, ReadonlySet<string>>();
  const endings = new Map<string, () => void>();

  const enter = (pod: string, network: string): void => {
    endings.get(network)?.();
    endings.delete(network);
    podsOf.set(network, (podsOf.get(network) ?? new Set()).add(pod));
    facts.set('networkInUse', network, true);
  };
  const leave = (pod: string, network: string): void => {
    const pods = podsOf.get(network);
    pods?.delete(pod);
    if (pods === undefined || pods.size > 0) return;
    podsOf.delete(network);
    const end = (): void => {
      endings.delete(network);
      facts.set('networkInUse', network, undefined);
    };
    endings.set(network, clock.schedule(graceMs, end));
  };
  const unsubscribe = registry.subscribe((pod, after) => {
    const before = networksOf.get(pod) ?? new Set<string>();
    const now = new Set(after?.attachments.map(({ network }) => network.name));
    if (now.size === 0) networksOf.delete(pod);
    else networksOf.set(pod, now);
    for (const network of now.difference(before)) enter(pod, network);
    for (const network of before.difference(now)) leave(pod, network);
  });
  return () => {
    unsubscribe();
    for (const cancel of endings.values()) cancel();
  };
};
