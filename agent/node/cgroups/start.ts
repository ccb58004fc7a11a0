/** Follows cgroups in a running agent, and tells of the node where there is none to go by. */
import type { FactStore } from '../../model/fact-store.ts';
import type { AgentContext } from '../../wiring/context.ts';
import type { Edges } from '../../wiring/edges.ts';
import { type Cgroups, startCgroups } from './index.ts';

/** @returns what keeps the facts about cgroups */
export const followCgroups = (
  facts: FactStore,
  { options, log }: Pick<AgentContext, 'options' | 'log'>,
  { emitNodeEvent }: Pick<Edges, 'emitNodeEvent'>,
): Cgroups => {
  const { kubeletCgroup, node } = options;
  const onUnwatched = (error: unknown, path: string): void =>
    log.warn({ err: error, cgroup: path }, 'cgroups cannot be watched; polling every 15 s');
  const cgroups = startCgroups({ facts, kubelet: kubeletCgroup, onUnwatched });
  if (!cgroups.supported) {
    const message =
      'cgroup v2 is not mounted: the kubelet cannot be distinguished from other processes, so it does not reach pods of';
    emitNodeEvent(node, 'UDNKubeletProbesNotSupported', `${message} primary networks on the default network`);
  }
  return cgroups;
};
