import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../types.ts';

/** Whom an event is about. */
export interface InvolvedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** For example `spec.containers{web}`. */
  readonly fieldPath?: string | undefined;
}

export interface EventInput {
  readonly regarding: InvolvedObject;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, for machines. */
  readonly reason: string;
  /** For people. At most 1024 bytes are kept. */
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  /** Who reports, for example `udn-agent`. */
  readonly component: string;
  /** On which node, when that matters. */
  readonly host?: string | undefined;
  readonly observe?: ((observation: EventObservation) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

export type EventObservation =
  | { readonly kind: 'recorded'; readonly event: EventInput; readonly count: number }
  | {
      readonly kind: 'dropped';
      readonly event: EventInput;
      readonly reason: 'rate' | 'full' | 'error';
      readonly error?: unknown;
    };

/**
 * Best effort: never throws and never blocks. Repetitions count up one Event; many different messages of one reason
 * about one object become one "combined" Event; an object that is reported about too often is reported about less.
 */
export interface EventRecorder {
  record(event: EventInput): void;
  /** Resolves when all that was recorded has been sent or dropped. */
  flush(): Promise<void>;
}
