/**
 * Emits as events of NetworkPolicies what this node cannot follow of them: a port's name that no pod has, a block of a family that the network
 * lacks, a limit that is exceeded. What nobody can read is the cluster manager's to report, once for all nodes.
 */
import type { Clock } from '../../base/clock.ts';
import type { EventRecorder } from '../../kube/events/types.ts';
import type { Problem } from '../inputs/problem.ts';
import type { PodIdentity } from './pod-events.ts';

/** @param policy a NetworkPolicy */
export type EmitPolicyEvent = (policy: PodIdentity, reason: 'PolicyNotFollowed', message: string) => void;

export const policyEvents =
  (recorder: Pick<EventRecorder, 'record'>): EmitPolicyEvent =>
  ({ namespace, name, uid }, reason, message) =>
    recorder.record({
      regarding: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace, name, uid },
      type: 'Warning',
      reason,
      message,
    });

export interface PolicyEventsOptions {
  /** Of all policies: it looks at each. */
  readonly problems: () => readonly Problem[];
  readonly uidOf: (policy: string) => string | undefined;
  readonly emit: EmitPolicyEvent;
  readonly clock: Clock;
}

/** Names come with the pods that have them: what is only of a moment is not reported, and many changes are looked at once. */
const SETTLE_MS = 5_000;

export class PolicyEvents {
  readonly #options: PolicyEventsOptions;
  #reported: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;

  constructor(options: PolicyEventsOptions) {
    this.#options = options;
  }

  /** Policies or pods are others than before. */
  changed(): void {
    this.#cancel ??= this.#options.clock.schedule(SETTLE_MS, () => {
      this.#cancel = undefined;
      this.#report();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #report(): void {
    const { problems, uidOf, emit } = this.#options;
    const now = new Set<string>();
    for (const { object, message, cause } of problems()) {
      const [kind, namespace = '', name = ''] = object.split('/');
      if (kind !== 'NetworkPolicy' || cause === 'object-unreadable') continue;
      const text = `${object} ${message}`;
      now.add(text);
      if (this.#reported.has(text)) continue;
      emit({ namespace, name, uid: uidOf(`${namespace}/${name}`) }, 'PolicyNotFollowed', message);
    }
    this.#reported = now;
  }
}
