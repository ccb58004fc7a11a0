/** Which network is the primary one of a namespace's pods: the same answer for the cluster manager and every agent. */
import type { Labels } from './label-selector.ts';
import { PRIMARY_NETWORK_LABEL } from './names.ts';
import type { NetConf } from './net-conf.ts';
import { compareByAge, type ObjectMeta } from './object.ts';

export interface NadCandidate {
  readonly metadata: ObjectMeta;
  readonly conf: NetConf;
}

export type PrimaryNetwork<Nad extends NadCandidate> =
  /** The cluster's default network: nobody asked for another one. */
  | { readonly kind: 'default' }
  /** `ignored` are primary networks that came later; each is an error of its own. */
  | { readonly kind: 'network'; readonly nad: Nad; readonly ignored: readonly Nad[] }
  /** The namespace asked for one that is not there (yet): its pods have to wait. */
  | { readonly kind: 'missing'; readonly message: string };

/**
 * The label, which can't be changed after the namespace was made, decides whether there is one; of several the oldest
 * wins, so that a second one does not take a working network away. One that is being deleted stays until it is gone: its
 * pods still use it.
 * @param nads of the namespace, in any order
 */
export const primaryNetworkOf = <Nad extends NadCandidate>(
  namespace: string,
  labels: Labels,
  nads: readonly Nad[],
): PrimaryNetwork<Nad> => {
  if (!isPrimaryLabelled(labels)) return { kind: 'default' };
  const [nad, ...ignored] = nads
    .filter(({ conf }) => conf.role === 'primary')
    .sort((a, b) => compareByAge(a.metadata, b.metadata));
  if (nad === undefined) return { kind: 'missing', message: invalidPrimaryStateMessage(namespace) };
  return { kind: 'network', nad, ignored };
};

export const isPrimaryLabelled = (labels: Labels): boolean => PRIMARY_NETWORK_LABEL in labels;

export const invalidPrimaryStateMessage = (namespace: string): string =>
  `invalid primary network state for namespace "${namespace}": a valid primary user defined network or network attachment definition custom resource, and required namespace label "${PRIMARY_NETWORK_LABEL}" must both be present`;
