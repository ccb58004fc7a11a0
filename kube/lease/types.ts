import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../types.ts';

export interface LeaderElectionOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the candidates, for example the pod's name and a random part. */
  readonly identity: string;
  /**
   * Runs while we lead. `signal` aborts when leadership is lost or the program stops; leadership is released after it. A
   * process that stood still goes on before any timer fires: callers ask `isHeld` before each write (`mayWrite` of
   * `ConnectOptions`).
   */
  readonly lead: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>;
  /** How long the others wait for a leader that says nothing. 15 s. */
  readonly leaseMs?: number | undefined;
  /** A leader that could not renew for this long stops leading. Less than `leaseMs`. 10 s. */
  readonly renewDeadlineMs?: number | undefined;
  /** Between two tries. 2 s. */
  readonly retryMs?: number | undefined;
  readonly observe?: ((observation: LeaderElectionObservation) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export type LeaderElectionObservation =
  | { readonly kind: 'leading' }
  /** Not renewed in time, or taken by somebody else. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'leader'; readonly identity: string }
  | { readonly kind: 'failed'; readonly error: unknown };
