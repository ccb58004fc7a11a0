/** A pod as its port has it, where that is not what its annotation says now: a running pod keeps what a damaged annotation had given it. */
import type { PodFact } from '../../model/facts.ts';
import { NO_ADDRESSES, peerAddresses } from '../policy-pod.ts';
import type { PolicyPod } from './types.ts';

/** @param key of the pod @param fact absent of pods that have no port in any fragment here */
export const evaluatedPod = (key: string, pod: PolicyPod, fact: PodFact | undefined): PolicyPod => {
  if (fact === undefined || pod.node === undefined || pod.isHost === true) return pod;
  if (fact.barred !== undefined) return pod.addresses.size === 0 ? pod : { ...pod, addresses: NO_ADDRESSES };
  const isAsWritten = fact.unreadable === undefined && fact.lost === undefined && fact.refused === undefined;
  return isAsWritten ? pod : { ...pod, addresses: peerAddresses(fact.networks, key) };
};
