/** Primary NADs of a namespace that has a primary network already. Pure. */

import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { type NadCandidate, primaryNetworkOf } from '../../api/primary-network.ts';

/** The NAD whose network the namespace has instead. @param nads of its namespace, in any order, with it */
export const oldestRival = <Nad extends NadCandidate>(nad: Nad, nads: readonly Nad[]): Nad | undefined => {
  const found = primaryNetworkOf('', LABELLED, nads);
  return found.kind === 'network' && found.nad.conf.name !== nad.conf.name ? found.nad : undefined;
};

/** Which NAD is first does not depend on whether the namespace asks for a primary network. */
const LABELLED = { [PRIMARY_NETWORK_LABEL]: '' };

export const primaryTaken = (namespace: string, name: string): string =>
  `primary network already exist in namespace "${namespace}": "${name}"`;
