/** A pod as its port has it, where that is not what its annotation says now: a running pod keeps what a damaged annotation had given it. */
import type { PodFact } from '../../model/facts.ts';
import { NO_ADDRESSES, withAddresses } from '../compact-pod.ts';
import { peerAddresses } from '../policy-pod.ts';
import type { PolicyPod } from './types.ts';

/** @param key of the pod @param fact absent of pods that have no port in any fragment here */
export const evaluatedPod = (key: string, pod: PolicyPod, fact: PodFact | undefined): PolicyPod => {
  if (fact === undefined || pod.node === undefined || pod.isHost === true) return pod;
  if (fact.barred !== undefined) return pod.addresses.size === 0 ? pod : withAddresses(pod, NO_ADDRESSES);
  const { lost, refused, networks } = fact;
  if (fact.unreadable !== undefined) return withAddresses(pod, peerAddresses(networks, key));
  if (lost === undefined && refused === undefined) return pod;
  // Of a pod of another node, what it has on networks that end at its node has no port here, and is as it is written.
  const written = [...pod.addresses].filter(([nadKey]) => lost?.has(nadKey) !== true && refused?.has(nadKey) !== true);
  const kept = [...peerAddresses(networks, key)].filter(([nadKey]) => lost?.has(nadKey));
  const addresses = new Map([...written, ...kept]);
  return withAddresses(pod, addresses.size === 0 ? NO_ADDRESSES : addresses);
};
