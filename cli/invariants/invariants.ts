/**
 * What holds in a cluster whatever happens to its programs: nothing that is given out is given out twice, everything that is
 * given out is from where it may be from, everything that is written can be read, and nothing belongs to somebody who is gone.
 * Pure: objects in, what breaks it out; tests call it with what an API server has.
 */
import { UDN_FINALIZER } from '../../api/names.ts';
import { controllerUid } from '../../cluster-manager/facts/nad-facts.ts';
import { type Snapshot, snapshotOf } from '../cluster/snapshot.ts';
import { unreadOf } from '../why/finding.ts';
import { knownNetworks, networkViolations } from './networks.ts';
import { nodeViolations } from './nodes.ts';
import { podViolations } from './pods.ts';
import type { Violation } from './violation.ts';

/** @param objects of all namespaces, with their kinds */
export const violationsOf = (objects: Iterable<unknown>): readonly Violation[] =>
  violationsIn(snapshotOf({ objects, now: 0 }));

export const violationsIn = (snapshot: Snapshot): readonly Violation[] => {
  const networks = knownNetworks(snapshot);
  return [
    ...snapshot.unusable.map((message) => ({ rule: 'unreadable' as const, objects: [], message })),
    ...networkViolations(snapshot),
    ...nodeViolations(snapshot, networks),
    ...podViolations(snapshot, networks),
    ...orphans(snapshot),
  ];
};

/** NADs that were rendered from an object that is gone, and that nobody will ever let go. */
const orphans = (snapshot: Snapshot): readonly Violation[] => {
  const { nads, networks } = snapshot;
  const isHidden = ['userdefinednetworks', 'clusteruserdefinednetworks'].some(
    (kind) => unreadOf(snapshot, kind) !== undefined,
  );
  if (isHidden) return [];
  const uids = new Set([...networks.values()].map(({ metadata }) => metadata.uid));
  return [...nads.values()].flatMap((nad) => {
    const owner = controllerUid(nad);
    const isOrphan = owner === undefined ? false : nad.metadata.finalizers.includes(UDN_FINALIZER) && !uids.has(owner);
    const message = `NAD ${nad.key} was rendered from an object that no longer exists`;
    return isOrphan ? [{ rule: 'orphan' as const, objects: [`NetworkAttachmentDefinition/${nad.key}`], message }] : [];
  });
};
