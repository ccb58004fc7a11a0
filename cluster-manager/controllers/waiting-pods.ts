/** Pods that did not get what they ask for, by the cause: how many there are is a metric. */

export const WAITING_CAUSES = ['no_free_address', 'refused', 'claim'] as const;
export type WaitingCause = (typeof WAITING_CAUSES)[number];

export interface WaitingPods {
  /** Undefined: it does not wait (any more). */
  set(pod: string, cause: WaitingCause | undefined): void;
  counts(): ReadonlyMap<WaitingCause, number>;
}

export const createWaitingPods = (): WaitingPods => {
  const causes = new Map<string, WaitingCause>();
  return {
    set: (pod, cause) => {
      if (cause === undefined) causes.delete(pod);
      else causes.set(pod, cause);
    },
    counts: () => {
      const counts = new Map<WaitingCause, number>();
      for (const cause of causes.values()) counts.set(cause, (counts.get(cause) ?? 0) + 1);
      return counts;
    },
  };
};
