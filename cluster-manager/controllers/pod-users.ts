/** Which pods use a NAD, and who wants to know when they stop: nothing is asked twice, nothing waits for a time. */
import type { Change } from '../../kube/reflector/types.ts';
import { type PodFacts, usedNads } from '../facts/pod-facts.ts';
import type { Caches } from './caches.ts';

export interface PodUsers {
  /** Keys of the active pods that use the NAD, or may use it because their annotation can't be read; sorted. */
  using(nadKey: string): readonly string[];
  /** As `using`; when there are some, `onChange` is called once when one of them stops. One waiter waits once. */
  watch(nadKey: string, waiter: string, onChange: () => void): readonly string[];
  /** To be called with every change of a pod. */
  follow(change: Change<PodFacts>): void;
}

/** @param isFor whether pods of a namespace may be on the network of a NAD: no others are, whatever they say */
export const createPodUsers = (
  pods: Caches['pods'],
  isFor: (nadKey: string, namespace: string) => boolean,
): PodUsers => {
  /** NAD key → waiter → what to call. */
  const waiting = new Map<string, Map<string, () => void>>();

  const using = (nadKey: string): readonly string[] => {
    const namespace = nadKey.split('/')[0];
    const saying = [...pods.keysByIndex('usedNad', nadKey)];
    const referring = saying.filter((key) => isFor(nadKey, key.split('/')[0] ?? ''));
    return [...new Set([...referring, ...pods.keysByIndex('usedNad', `${namespace}/*`)])].sort();
  };
  const wake = (nadKey: string): void => {
    const waiters = [...(waiting.get(nadKey)?.values() ?? [])];
    waiting.delete(nadKey);
    for (const onChange of waiters) onChange();
  };
  return {
    using,
    watch: (nadKey, waiter, onChange) => {
      const keys = using(nadKey);
      const waiters = waiting.get(nadKey) ?? new Map<string, () => void>();
      if (keys.length > 0) waiting.set(nadKey, waiters.set(waiter, onChange));
      return keys;
    },
    follow: ({ before, after }) => {
      if (waiting.size === 0 || before === undefined) return;
      const still = new Set(after === undefined ? [] : usedNads(after));
      for (const used of usedNads(before)) {
        if (still.has(used)) continue;
        if (used.endsWith('/*')) for (const key of [...waiting.keys()]) wake(key);
        else wake(used);
      }
    },
  };
};
