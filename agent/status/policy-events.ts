/**
 * Emits as events of NetworkPolicies, MultiNetworkPolicies and EgressFirewalls what this node cannot follow: a port's name that no pod has, a block of a
 * family that the network lacks, a limit that is exceeded. What nobody can read is the cluster manager's to report, once for all nodes.
 */
import type { Clock } from '../../base/clock.ts';
import type { EventRecorder } from '../../kube/events/types.ts';
import type { Problem } from '../inputs/problem.ts';
import type { PodIdentity } from './pod-events.ts';

export type EmitPolicyEvent = (policy: PolicyIdentity, reason: 'PolicyNotFollowed', message: string) => void;

interface PolicyIdentity extends PodIdentity {
  readonly kind: keyof typeof API_VERSIONS;
}

const API_VERSIONS = {
  NetworkPolicy: 'networking.k8s.io/v1',
  MultiNetworkPolicy: 'k8s.cni.cncf.io/v1beta1',
  EgressFirewall: 'k8s.ovn.org/v1',
} as const;

export const policyEvents =
  (recorder: Pick<EventRecorder, 'record'>): EmitPolicyEvent =>
  ({ kind, namespace, name, uid }, reason, message) =>
    recorder.record({
      regarding: { apiVersion: API_VERSIONS[kind], kind, namespace, name, uid },
      type: 'Warning',
      reason,
      message,
    });

export interface PolicyEventsOptions {
  /** Of all policies: it looks at each. */
  readonly problems: () => readonly Problem[];
  /** @param policy `namespace/name` */
  readonly uidOf: (policy: string, kind: PolicyIdentity['kind']) => string | undefined;
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
      if (!isPolicyKind(kind) || cause === 'object-unreadable') continue;
      const text = `${object} ${message}`;
      now.add(text);
      if (this.#reported.has(text)) continue;
      emit({ kind, namespace, name, uid: uidOf(`${namespace}/${name}`, kind) }, 'PolicyNotFollowed', message);
    }
    this.#reported = now;
  }
}

const isPolicyKind = (kind: string | undefined): kind is PolicyIdentity['kind'] =>
  kind !== undefined && kind in API_VERSIONS;
