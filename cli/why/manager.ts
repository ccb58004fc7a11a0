/** Who has to act next where nothing is wrong with the objects: the cluster manager, if there is one. */
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import type { Leader, Snapshot } from '../cluster/snapshot.ts';
import { blocked, type Cause, type Finding, unknown } from './finding.ts';

/** What it would do in a moment has not been done. @param found without what is said about the manager */
export const waitsForManager = (snapshot: Snapshot, what: string, cause: Cause, found: string): Finding => {
  const away = awayText(snapshot);
  if (away === undefined) {
    const next =
      'wait a moment; if this persists, see the log of the cluster manager: kubectl -n ovn-udn logs deployment/udn-cluster-manager';
    return blocked(what, cause, found, next);
  }
  return blocked(
    what,
    'manager-away',
    `${found}, and ${away}`,
    'udnctl check shows the problem of the cluster manager',
  );
};

/**
 * Conditions and counts of a status are the cluster manager's: without one they are of the time when there was one. Where there never was a
 * Lease, somebody has written them who needs none.
 */
export const awayFindings = ({ status, conditions }: NetworkFacts, scene: Snapshot): readonly Finding[] => {
  const away = awayText(scene);
  const isWritten = status !== undefined || conditions.length > 0;
  if (away === undefined || scene.leader === 'absent' || !isWritten) return [];
  const found = `${away}: conditions and counts of the status may be outdated`;
  return [{ ...unknown('cluster manager', found), next: 'udnctl check shows the problem of the cluster manager' }];
};

export const awayText = ({ leader, now }: Pick<Snapshot, 'leader' | 'now'>): string | undefined => {
  if (leader === undefined) return undefined;
  if (leader === 'absent') return 'no cluster manager has ever been leader';
  if (leader.holder === '') return 'no cluster manager is leader';
  return isStale(leader, now)
    ? `the cluster manager ${leader.holder} last renewed its Lease at ${new Date(leader.renewedAt).toISOString()}`
    : undefined;
};

/** Between this machine's clock and theirs. */
export const CLOCK_SKEW_MS = 30_000;

const isStale = ({ renewedAt, durationMs }: Exclude<Leader, 'absent'>, now: number): boolean =>
  now - renewedAt > durationMs + CLOCK_SKEW_MS;
