/**
 * Networks that a pod has entries of, whatever becomes of its annotations: what a pod that runs has been given stays its own, also while
 * it waits, is refused, or does not select the network any more. Pure.
 */
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../../api/names.ts';
import { type HeldNetwork, nadOf } from '../../model/attachments.ts';
import type { PodFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';
import { giverOf } from './giver.ts';

/** In the order of the annotation; without networks that are not known. */
export const heldNetworks = ({ networks }: PodFact, view: View): readonly HeldNetwork[] =>
  [...networks].flatMap(([nadKey, { role }]) => {
    const nad = parseNadKey(nadKey);
    const network =
      nadKey === DEFAULT_NETWORK_NAME ? view.network(DEFAULT_NETWORK_NAME) : nad && view.networkOfNad(nadOf(nad));
    if (network === undefined) return [];
    const usual = network.role === 'secondary' ? 'secondary' : 'primary';
    return [{ nadKey, network, role: role ?? usual, ...giverOf(network, view) }];
  });
