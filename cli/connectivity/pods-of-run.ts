/** The pods of a run as the API server has them: those that can be asked, and why the others cannot. Pure. */
import { ApiError } from '../../api/errors.ts';
import { addressOf } from '../../net/cidr.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Scene } from '../why/allocations.ts';
import { whyPod } from '../why/pod.ts';
import { podEntries } from '../why/pod-entries.ts';
import type { ProbedPod } from './probes.ts';
import type { Unmeasured } from './report.ts';
import { namespaceName, type PodPlace, podPlaces, type Run, type Tenant } from './run.ts';

export interface PodsOfRun {
  readonly ready: readonly Omit<ProbedPod, 'mtu'>[];
  readonly unready: readonly Unmeasured[];
}

/** @param scenes of the namespaces of the tenants */
export const podsOfRun = (run: Pick<Run, 'id' | 'nodes'>, scenes: Readonly<Record<Tenant, Scene>>): PodsOfRun => {
  const found = podPlaces(run).map((place) => podOf(run, place, scenes[place.tenant]));
  return {
    ready: found.flatMap((one) => ('addresses' in one ? [one] : [])),
    unready: found.flatMap((one) => ('cause' in one ? [one] : [])),
  };
};

const podOf = (run: Pick<Run, 'id'>, place: PodPlace, scene: Scene): Omit<ProbedPod, 'mtu'> | Unmeasured => {
  const what = `pod ${place.name} on ${place.node.name}`;
  const pod = scene.pods.get(`${namespaceName(run, place.tenant)}/${place.name}`);
  if (pod === undefined) return { what, cause: 'it no longer exists' };
  if (!pod.isReady) return { what, cause: whyPod(pod, scene).summary };
  const addresses = addressesOf(pod);
  return addresses.length === 0 ? { what, cause: whyPod(pod, scene).summary } : { ...place, addresses };
};

/** On its primary network. */
const addressesOf = (pod: PodState): ProbedPod['addresses'] => {
  const entries = podEntries(pod);
  if (entries instanceof ApiError) return [];
  const primary = [...entries.values()].flatMap((entry) =>
    !(entry instanceof ApiError) && entry.role === 'primary' ? [entry] : [],
  );
  return primary.flatMap(({ ipAddresses }) => ipAddresses.map(addressOf));
};
