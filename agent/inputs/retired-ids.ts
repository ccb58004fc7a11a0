/** What the agent keeps of the NetworkIdPool. */
import { NETWORK_ID_POOL, parseNetworkIdPool } from '../../api/network-id-pool.ts';
import type { KubeObject } from '../../kube/types.ts';

export interface RetiredIds {
  /** The last retirement. */
  readonly retirement: number;
  /** Ids of deleted networks, and whose they were: no other network has them before it is known that no node has them. */
  readonly networks: ReadonlyMap<number, string>;
}

/** Undefined: it is not the one. @throws ApiError when it cannot be read */
export const projectRetiredIds = (object: KubeObject): RetiredIds | undefined => {
  if (object.metadata.name !== NETWORK_ID_POOL) return undefined;
  const { retirement, retired } = parseNetworkIdPool(object).status;
  return { retirement, networks: new Map(retired.map(({ id, network = 'that is deleted' }) => [id, network])) };
};
