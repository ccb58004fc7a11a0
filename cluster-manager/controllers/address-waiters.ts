/** Pods that a network had no address for, until it has one again. */
import { MultiMap } from '../../base/multi-map.ts';

export interface AddressWaiters {
  /** The networks that a pod waits for; none ends its waiting. */
  set(pod: string, networks: readonly string[]): void;
  /** The pods that wait for a network: each is notified once. */
  take(network: string): readonly string[];
}

export const createAddressWaiters = (): AddressWaiters => {
  const byNetwork = new MultiMap<string>();
  const byPod = new Map<string, readonly string[]>();
  const forget = (pod: string): void => {
    for (const network of byPod.get(pod) ?? []) byNetwork.delete(network, pod);
    byPod.delete(pod);
  };
  return {
    set: (pod, networks) => {
      forget(pod);
      if (networks.length === 0) return;
      byPod.set(pod, networks);
      for (const network of networks) byNetwork.add(network, pod);
    },
    take: (network) => {
      const pods = [...byNetwork.get(network)];
      for (const pod of pods) forget(pod);
      return pods;
    },
  };
};
