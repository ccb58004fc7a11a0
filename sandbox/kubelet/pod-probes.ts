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
  const probersOf = (container: PodContainer, target: ProbeTarget): Prober[] => {
    const { name, readinessProbe, livenessProbe } = container;
    if (readinessProbe === undefined) ready.add(name);
    return [
      ...(readinessProbe === undefined
        ? []
        : [
            startProbe(readinessProbe, target, (isSuccess, message) => {
              if (isSuccess) ready.add(name);
              else ready.delete(name);
              if (!isSuccess) onUnready(name, message);
              onReadiness();
            }),
          ]),
      ...(livenessProbe === undefined
        ? []
        : [startProbe(livenessProbe, target, (isSuccess, message) => isSuccess || onDead(name, message))]),
    ];
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
