/** Why the last CNI call of a pod failed, until one succeeds: for those who ask why the pod has no port, or what is wrong. */
import type { AttachmentRequest, CniPod } from '../../api/cni/request.ts';
import { messageOf } from '../../base/error-message.ts';
import type { PodFact } from '../model/facts.ts';
import { type CniFailureCause, failureCause } from './failure-cause.ts';

export interface PodFailure {
  readonly uid: string | undefined;
  readonly command: 'ADD' | 'DEL' | 'CHECK';
  readonly cause: CniFailureCause;
  readonly message: string;
  /** It has not failed: it has waited for a while, and still does. */
  readonly isWaiting: boolean;
}

type Call = Pick<AttachmentRequest, 'pod' | 'command'>;

export class PodFailures {
  /** By `namespace/name`; the oldest come first. */
  readonly #failures = new Map<string, PodFailure>();

  /** A call that ends as its pod or its caller is gone is nothing that somebody has to mend. */
  failed({ pod, command }: Call, error: unknown): void {
    const cause = failureCause(error);
    if (cause === 'deleted' || cause === 'interrupted') return;
    this.#remember(pod, { command, cause, message: messageOf(error), isWaiting: false });
  }

  waits({ pod, command }: Call, message: string): void {
    this.#remember(pod, { command, cause: 'waiting-for-network', message, isWaiting: true });
  }

  /** An ADD makes good whatever failed before. A runtime follows each ADD that failed by a DEL, which does not. */
  succeeded({ pod: { namespace, name }, command }: Call): void {
    const key = `${namespace}/${name}`;
    if (command === 'ADD' || this.#failures.get(key)?.command === command) this.#failures.delete(key);
  }

  /** Undefined: it has not failed, or is that of an earlier pod of the name. */
  of({ namespace, name, runtimeUid }: Pick<PodFact, 'namespace' | 'name' | 'runtimeUid'>): PodFailure | undefined {
    const found = this.#failures.get(`${namespace}/${name}`);
    return found?.uid === undefined || found.uid === runtimeUid ? found : undefined;
  }

  /** By `namespace/name`, those of pods that the API does not have any more among them. */
  entries(): Iterable<readonly [pod: string, failure: PodFailure]> {
    return this.#failures.entries();
  }

  #remember({ namespace, name, uid }: CniPod, failure: Omit<PodFailure, 'uid'>): void {
    const key = `${namespace}/${name}`;
    this.#failures.delete(key);
    this.#failures.set(key, { uid, ...failure });
    // Pods go, and no runtime says so of one that was never added.
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_REMEMBERED) break;
      this.#failures.delete(oldest);
    }
  }
}

/** `CNI ADD failed: …` */
export const podFailureText = ({ command, message, isWaiting }: PodFailure): string =>
  isWaiting ? `CNI ${command} waits: ${message}` : `CNI ${command} failed: ${message}`;

const MAX_REMEMBERED = 1_000;
