/**
 * A NAD that was written by hand may be edited while pods are on its network. What they could not run on with is not followed before the
 * last of them is gone, as the spec of a network that NADs are rendered from cannot be changed: agents would take the port from a pod whose
 * addresses are not the network's any more. Agents read what counts from the annotation that the cluster manager writes. Pure.
 */
import { canFollow, editedKeys, mayBeAdopted } from '../../api/adopted-conf.ts';
import { mayAttach } from '../../api/attachment-scope.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { scopedNad } from '../allocation/nad-scope.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { Sources } from './sources.ts';

interface Adopting {
  /** What the network is by this NAD so far; undefined: not known, and the annotation says it. */
  readonly inForce: NetConf | undefined;
  /** Undefined: there is nothing but NADs. */
  readonly sources: Sources | undefined;
  readonly cluster: ClusterConfig;
  /** It was there when the cluster manager started: all networks are what they were before any is something else. */
  readonly isRecovered: boolean;
}

/** The NAD with the configuration that counts. */
export const withAdopted = (nad: NadFacts, { inForce, sources, cluster, isRecovered }: Adopting): NadFacts => {
  // Files say what an agent works with: it goes by the annotation.
  const conf = sources === undefined ? nad.adopted : (inForce ?? nad.adopted);
  if (conf === undefined || conf === nad.conf || !mayBeAdopted(nad)) return nad;
  const held: NadFacts = { ...nad, conf };
  // What cannot be read says nothing else.
  if (sources === undefined || nad.confError !== undefined) return held;
  const keys = editedKeys(conf, nad.conf);
  if (keys.length === 0) return nad;
  if (isRecovered) return held;
  const all = [nad, ...sources.adoptedNads(conf.name).filter(({ key }) => key !== nad.key)];
  // NADs of one network can only be edited one after the other: the first edit would contradict the others, and their pods have no network.
  if (canFollow(keys) && all.length === 1) return nad;
  return all.some((one) => isInUse(one, conf, sources, cluster)) ? held : nad;
};

const isInUse = (nad: NadFacts, conf: NetConf, { podsUsing }: Sources, cluster: ClusterConfig): boolean => {
  const scoped = scopedNad({ ...nad, conf, isOwn: false });
  return (
    podsUsing(`${scoped.namespace}/*`).length > 0 ||
    podsUsing(nad.key).some(({ namespace }) => mayAttach(scoped, namespace, cluster))
  );
};
