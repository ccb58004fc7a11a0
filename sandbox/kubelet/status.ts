/** The status of a pod, from what was observed. Pure. */
import type { ObservedContainer, Phase } from './lifecycle.ts';
import type { Pod, PodContainer } from './pod-spec.ts';

export interface StatusInput {
  readonly pod: Pod;
  readonly phase: Phase;
  readonly containers: readonly ObservedContainer[];
  /** Names of the containers whose readiness probe succeeds, or that have none. */
  readonly ready: ReadonlySet<string>;
  readonly hasSandbox: boolean;
  readonly podAddresses: readonly string[];
  readonly nodeAddresses: readonly string[];
  /** Why there is no sandbox yet. */
  readonly problem: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface PodCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface PodStatus {
  readonly phase: Phase;
  readonly conditions: readonly PodCondition[];
  readonly hostIP: string | null;
  readonly hostIPs: readonly { readonly ip: string }[];
  readonly podIP: string | null;
  readonly podIPs: readonly { readonly ip: string }[];
  readonly startTime: string;
  readonly containerStatuses: readonly unknown[];
  readonly qosClass: 'BestEffort';
}

export const podStatus = (input: StatusInput): PodStatus => {
  const { pod, phase, podAddresses, nodeAddresses, now } = input;
  return {
    phase,
    conditions: conditionsOf(input),
    hostIP: nodeAddresses[0] ?? null,
    hostIPs: nodeAddresses.map((ip) => ({ ip })),
    podIP: podAddresses[0] ?? null,
    podIPs: podAddresses.map((ip) => ({ ip })),
    startTime: pod.status.startTime ?? time(now),
    containerStatuses: input.containers.map((observed) => containerStatus(input, observed)),
    qosClass: 'BestEffort',
  };
};

const conditionsOf = (input: StatusInput): PodCondition[] => {
  const { phase, containers, hasSandbox, problem } = input;
  const isDone = phase === 'Succeeded' || phase === 'Failed';
  const unready = containers.filter((observed) => !isReady(input, observed)).map(({ name }) => name);
  const readiness =
    unready.length === 0
      ? { isTrue: true }
      : {
          isTrue: false,
          reason: isDone ? 'PodCompleted' : 'ContainersNotReady',
          message: isDone ? '' : `containers with unready status: [${unready.join(' ')}]`,
        };
  const isWaiting = !hasSandbox && !isDone;
  return [
    condition(input, 'PodScheduled', { isTrue: true }),
    condition(input, 'PodReadyToStartContainers', { isTrue: hasSandbox, message: isWaiting ? (problem ?? '') : '' }),
    condition(input, 'Initialized', { isTrue: true }),
    condition(input, 'ContainersReady', readiness),
    condition(input, 'Ready', readiness),
  ];
};

const isReady = ({ ready }: StatusInput, { name, state }: ObservedContainer): boolean =>
  state.pid !== undefined && state.exit === undefined && ready.has(name);

/** The time of the last change of `status` stays. */
const condition = (
  { pod, now }: StatusInput,
  type: string,
  {
    isTrue,
    reason = '',
    message = '',
  }: { readonly isTrue: boolean; readonly reason?: string; readonly message?: string },
): PodCondition => {
  const status = isTrue ? 'True' : 'False';
  const before = pod.status.conditions.find((known) => known.type === type);
  return {
    type,
    status,
    lastTransitionTime: (before?.status === status ? before.lastTransitionTime : undefined) ?? time(now),
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
  };
};

const containerStatus = (input: StatusInput, observed: ObservedContainer): unknown => {
  const { name, record, state } = observed;
  const image = imageOf(input.pod.spec.containers, name);
  const previous = record?.previous;
  return {
    name,
    image,
    imageID: image,
    ready: isReady(input, observed),
    started: state.pid !== undefined && state.exit === undefined,
    restartCount: record?.attempt ?? 0,
    ...(record === undefined ? {} : { containerID: containerUrl(record.id) }),
    state: containerState(input, observed),
    lastState: previous === undefined ? {} : { terminated: terminated(previous) },
  };
};

const containerState = (input: StatusInput, { record, state }: ObservedContainer): unknown => {
  if (record === undefined) {
    return {
      waiting: { reason: 'ContainerCreating', ...(input.problem === undefined ? {} : { message: input.problem }) },
    };
  }
  if (state.exit !== undefined) {
    const { code, signal, started, finishedAt } = state.exit;
    return {
      terminated: terminated({ id: record.id, startedAt: record.startedAt, code, signal, finishedAt }, started),
    };
  }
  if (state.pid === undefined) return { waiting: { reason: 'ContainerCreating' } };
  return { running: { startedAt: time(record.startedAt) } };
};

interface Ended {
  readonly id: string;
  readonly code: number;
  readonly signal: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

const terminated = ({ id, code, signal, startedAt, finishedAt }: Ended, started = true): unknown => ({
  exitCode: code,
  ...(signal === 0 ? {} : { signal }),
  reason: started ? (code === 0 ? 'Completed' : 'Error') : 'StartError',
  startedAt: time(startedAt),
  finishedAt: time(finishedAt),
  containerID: containerUrl(id),
});

const containerUrl = (id: string): string => `toolbox://${id}`;

const imageOf = (containers: readonly PodContainer[], name: string): string =>
  containers.find((container) => container.name === name)?.image ?? '';

/** RFC 3339 in seconds, as the API has it. */
const time = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
