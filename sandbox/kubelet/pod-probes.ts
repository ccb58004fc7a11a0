/** The probes of a pod's containers: which of them are ready, and which are to be ended. */
import type { PodContainer } from './pod-spec.ts';
import { type Prober, type ProbeTarget, startProbe } from './prober.ts';

export interface ProbeEvents {
  readonly onReadiness: () => void;
  /** A liveness probe failed. */
  readonly onDead: (container: string, message: string) => void;
  /** For events. */
  readonly onUnready: (container: string, message: string) => void;
}

export interface PodProbes {
  /** Probes this start of the container from now on. */
  start(id: string, container: PodContainer, target: Omit<ProbeTarget, 'container'>): void;
  /** Names of running containers that are ready. */
  ready(): ReadonlySet<string>;
  /** Stops the probes of the container, or of all. */
  stop(container?: string): void;
}

export const createPodProbes = ({ onReadiness, onDead, onUnready }: ProbeEvents): PodProbes => {
  const running = new Map<string, { readonly id: string; readonly probers: readonly Prober[] }>();
  const ready = new Set<string>();
  const stopOne = (name: string): void => {
    for (const prober of running.get(name)?.probers ?? []) prober.stop();
    running.delete(name);
    ready.delete(name);
  };
  const startReadiness = ({ name, readinessProbe }: PodContainer, target: ProbeTarget): Prober[] => {
    if (readinessProbe === undefined) {
      ready.add(name);
      return [];
    }
    const onResult = (isSuccess: boolean, message: string): void => {
      if (isSuccess) ready.add(name);
      else ready.delete(name);
      if (!isSuccess) onUnready(name, message);
      onReadiness();
    };
    return [startProbe(readinessProbe, target, onResult)];
  };
  const startLiveness = ({ name, livenessProbe }: PodContainer, target: ProbeTarget): Prober[] =>
    livenessProbe === undefined
      ? []
      : [startProbe(livenessProbe, target, (isSuccess, message) => isSuccess || onDead(name, message))];
  const startAll = (container: PodContainer, target: ProbeTarget): Prober[] => [
    ...startReadiness(container, target),
    ...startLiveness(container, target),
  ];
  /** Until the startup probe succeeds there are no others, and the container is not ready. */
  const probersOf = (container: PodContainer, target: ProbeTarget): Prober[] => {
    const { name, startupProbe } = container;
    if (startupProbe === undefined) return startAll(container, target);
    const probers: Prober[] = [];
    const startup = startProbe(startupProbe, target, (isSuccess, message) => {
      if (!isSuccess) return onDead(name, message);
      startup.stop();
      probers.push(...startAll(container, target));
      onReadiness();
    });
    probers.push(startup);
    return probers;
  };
  return {
    start: (id, container, target) => {
      if (running.get(container.name)?.id === id) return;
      stopOne(container.name);
      running.set(container.name, { id, probers: probersOf(container, { ...target, container }) });
    },
    ready: () => ready,
    stop: (container) => {
      for (const name of container === undefined ? [...running.keys()] : [container]) stopOne(name);
    },
  };
};
