/** Primary NADs of a namespace that has a primary network already. Pure. */

import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { type NadCandidate, primaryNetworkOf } from '../../api/primary-network.ts';
import type { NadRecord } from './network-records.ts';

/**
 * A namespace has one primary network, that of its oldest primary NAD. One that is second in all its namespaces is no network: no
 * pod is ever on it, and what nodes made of it would stand beside that of the first.
 * @param nads of the network @returns why it gets no id
 */
export const rivalry = (
  nads: Iterable<NadRecord>,
  nadsIn: (namespace: string) => readonly NadRecord[],
): string | undefined => {
  let message: string | undefined;
  for (const nad of nads) {
    const { namespace } = nad.metadata;
    const first = nad.conf.role === 'primary' ? oldestRival(nad, nadsIn(namespace)) : undefined;
    // One that is first is enough: the others, of which there may be many, are not looked at.
    if (first === undefined) return undefined;
    message ??= primaryTaken(namespace, first.metadata.name);
  }
  return message;
};

/** The NAD whose network the namespace has instead. @param nads of its namespace, in any order, with it */
const oldestRival = <Nad extends NadCandidate>(nad: Nad, nads: readonly Nad[]): Nad | undefined => {
  const found = primaryNetworkOf('', LABELLED, nads);
  return found.kind === 'network' && found.nad.conf.name !== nad.conf.name ? found.nad : undefined;
};

/** Which NAD is first does not depend on whether the namespace asks for a primary network. */
const LABELLED = { [PRIMARY_NETWORK_LABEL]: '' };

export const primaryTaken = (namespace: string, name: string): string =>
  `primary network already exist in namespace "${namespace}": "${name}"`;
