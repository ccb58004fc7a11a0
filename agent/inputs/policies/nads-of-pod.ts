/** By which NetworkAttachmentDefinitions a pod can be on secondary networks. */
import { parseNadKey } from '../../../api/names.ts';
import type { PolicyPod } from './types.ts';

/** `namespace/name` of each. A pod of another node with one address has that of its own network: it costs nothing here. */
export const nadsOfPod = ({ addresses, isLocal }: Pick<PolicyPod, 'addresses' | 'isLocal'>): readonly string[] => {
  if (addresses.size < 2 && !isLocal) return NONE;
  const nads: string[] = [];
  for (const key of addresses.keys()) {
    const nad = parseNadKey(key);
    if (nad === undefined) continue;
    const name = `${nad.namespace}/${nad.name}`;
    if (!nads.includes(name)) nads.push(name);
  }
  return nads;
};

const NONE: readonly string[] = [];
