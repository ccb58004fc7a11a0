/**
 * A NAD that was written by hand stays while pods are on its network, as one that was rendered does: its ids are theirs, and one that is made
 * again in its place may have other subnets, by which agents would take the ports from them.
 */
import { isUnowned } from '../../api/nad-owner.ts';
import { UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { isMoot } from '../../kube/errors.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { PodUsers } from './pod-users.ts';
import type { ControllerContext } from './types.ts';

/** To be called before the NAD gets its ids: no pod is on its network before. */
export const nadProtector = ({ state, writer }: Pick<ControllerContext, 'state' | 'writer'>) => {
  /** By what the mirror said of the NAD: as long as it says nothing else, it has not heard of the write. */
  const written = new WeakSet<NadFacts>();
  return async (nad: NadFacts, signal: AbortSignal): Promise<void> => {
    if (!needsFinalizer(nad, state) || written.has(nad)) return;
    const { namespace, name, uid = '' } = nad.metadata;
    const metadata = { namespace, name, uid, finalizers: [UDN_FINALIZER] };
    try {
      await writer.apply(NETWORK_ATTACHMENT_DEFINITIONS, { metadata }, {}, signal);
      written.add(nad);
    } catch (error) {
      if (!isMoot(error)) throw error;
    }
  };
};

/** It has the finalizer, and was edited to be of another plugin. */
export const isNoLongerOurs = (nad: NadFacts): boolean =>
  isUnowned(nad) && nad.conf === undefined && nad.confError === undefined && hasFinalizer(nad);

/** What is said of a NAD that waits for its pods; a network that renders its NADs reports that itself. */
export const deletionWaits = (nad: NadFacts, users: Pick<PodUsers, 'using'>): readonly string[] => {
  if (!isUnowned(nad) || nad.metadata.deletionTimestamp == null || !hasFinalizer(nad)) return [];
  if (users.using(nad.key).length === 0) return [];
  return [
    `pods use it: they keep what they have, and it is deleted, and can be created again, when the last of them is gone; udnctl why network ${nad.key} names them`,
  ];
};

const needsFinalizer = (nad: NadFacts, { registry }: ControllerContext['state']): boolean =>
  isUnowned(nad) &&
  nad.metadata.deletionTimestamp == null &&
  !hasFinalizer(nad) &&
  registry.networkOfNad(nad.key) !== undefined &&
  registry.nad(nad.key)?.isOwn === false;

const hasFinalizer = ({ metadata: { finalizers } }: NadFacts): boolean => finalizers.includes(UDN_FINALIZER);
