/** What is to be done with the containers of a pod. Pure. */
import type { Pod } from './pod-spec.ts';
import type { ContainerRecord } from './records.ts';

export interface ContainerExit {
  /** False when the command could not be executed. */
  readonly started: boolean;
  readonly code: number;
  readonly signal: number;
  readonly finishedAt: number;
}

/** According to its pid and exit files. */
export interface ContainerState {
  readonly pid?: number | undefined;
  readonly exit?: ContainerExit | undefined;
}

export interface ObservedContainer {
  readonly name: string;
  readonly record: ContainerRecord | undefined;
  readonly state: ContainerState;
}

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface Decision {
  readonly phase: Phase;
  /** Names of containers. */
  readonly start: readonly string[];
  /** When to decide again, in epoch milliseconds; undefined when only an event changes the decision. */
  readonly retryAt: number | undefined;
}

/** Restarts of a container wait this long; the first one does not. */
const BACKOFF_MIN_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;
/** After so long a run the next restart is taken for the first. */
const HEALTHY_MS = 60_000;

export const decide = (
  restartPolicy: Pod['spec']['restartPolicy'],
  containers: readonly ObservedContainer[],
  now: number,
): Decision => {
  const restarts = containers.filter((container) => isToRun(restartPolicy, container));
  const due = restarts.map((container) => ({ name: container.name, at: startableAt(container) }));
  const later = due.filter(({ at }) => at > now).map(({ at }) => at);
  return {
    phase: phaseOf(restartPolicy, containers),
    start: due.filter(({ at }) => at <= now).map(({ name }) => name),
    retryAt: later.length === 0 ? undefined : Math.min(...later),
  };
};

/** Neither running nor done for good. */
const isToRun = (policy: Pod['spec']['restartPolicy'], { record, state }: ObservedContainer): boolean => {
  if (record === undefined) return true;
  if (state.exit === undefined) return false;
  return policy === 'Always' || (policy === 'OnFailure' && state.exit.code !== 0);
};

const startableAt = ({ record, state }: ObservedContainer): number => {
  if (record === undefined || state.exit === undefined) return 0;
  const ran = state.exit.finishedAt - record.startedAt;
  const failures = ran >= HEALTHY_MS ? 0 : record.attempt;
  return failures === 0 ? 0 : state.exit.finishedAt + Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** (failures - 1));
};

const phaseOf = (policy: Pod['spec']['restartPolicy'], containers: readonly ObservedContainer[]): Phase => {
  if (containers.some(({ record }) => record === undefined)) return 'Pending';
  if (containers.some((container) => container.state.exit === undefined || isToRun(policy, container))) {
    return containers.every(({ state }) => state.pid === undefined && state.exit === undefined) ? 'Pending' : 'Running';
  }
  return containers.every(({ state }) => state.exit?.code === 0) ? 'Succeeded' : 'Failed';
};
