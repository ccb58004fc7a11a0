/**
 * Which pod of a virtual machine has its ports. While it moves, two pods have its addresses and MAC: the source, and the target that
 * waits. Every zone decides alike, from what the API says of the pods and of nothing else, so that all send to the same one (ADR 131). Pure.
 */

/** Of one virtual machine at a time: a migration has two, and labels of a tenant cost every node what they make share something. */
export const MOST_PODS_OF_MACHINE = 8;

export interface MachinePod {
  /** `namespace/name` */
  readonly key: string;
  readonly uid: string;
  /** Sorts by age. */
  readonly createdAt: string;
  /** KubeVirt says that a live migration has ended in it: the machine runs here. */
  readonly isMigrated: boolean;
}

/**
 * The youngest that the machine has moved to; while it has moved to none of them, the oldest, which it was started in. A pod that is gone,
 * or has ended, is none of them: then the one before has the ports again.
 * @param pods that are there and have not ended, at least one
 */
export const podWithMachine = (pods: readonly MachinePod[]): string | undefined => {
  const byAge = sortedByAge(pods);
  return (byAge.findLast(({ isMigrated }) => isMigrated) ?? byAge[0])?.key;
};

/** The oldest of them: younger ones are refused what they share. */
export const podsWithRoom = (pods: readonly MachinePod[]): readonly MachinePod[] =>
  sortedByAge(pods).slice(0, MOST_PODS_OF_MACHINE);

const sortedByAge = (pods: readonly MachinePod[]): readonly MachinePod[] =>
  [...pods].sort((a, b) => compare(a.createdAt, b.createdAt) || compare(a.uid, b.uid));

/** Code units: no locale decides. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
