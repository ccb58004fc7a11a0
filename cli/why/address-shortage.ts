/** Whether a network has addresses left for pods. It is ready without any: those that have one run on it. */
import { ONLY_RESERVED_LEFT } from '../../cluster-manager/allocation/address-pools.ts';
import type { Scene } from './allocations.ts';
import { type Finding, unreadOf, warning } from './finding.ts';

/** Of networks whose addresses the cluster manager gives out; nothing where not all pods that may have some are known. */
export const addressShortage = (network: string, scene: Scene): readonly Finding[] => {
  if (HOLDERS.some((resource) => unreadOf(scene, resource) !== undefined)) return [];
  const shortage = scene.allocations().shortageOf(network);
  if (shortage === undefined) return [];
  return [{ ...warning('addresses', `a new pod gets no address: ${shortage}`), next: nextOfShortage(shortage) }];
};

const HOLDERS = ['pods', 'ipamclaims', 'network-attachment-definitions'];

/** @param message that says what is full */
export const nextOfShortage = (message: string): string =>
  message.endsWith(ONLY_RESERVED_LEFT)
    ? 'recreate the pod with a request for an address of reservedSubnets: annotation v1.multus-cni.io/default-network'
    : 'delete pods of the network, or recreate it with a larger subnet';
