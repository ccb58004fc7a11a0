import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import type { PodFact } from '../../model/facts.ts';

/** Whether the default network is only for the infrastructure to this pod: it has a primary network. */
export const isLocked = (pod: PodFact): boolean =>
  !pod.hostNetwork && pod.networks.get(DEFAULT_NETWORK_NAME)?.role === 'infrastructure-locked';
