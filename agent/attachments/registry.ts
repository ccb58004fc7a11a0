/** The attachments of this node's pods, for who gives addresses and who plugs interfaces. */
import type { AttachmentSink } from '../desired/engine.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { podKey } from '../model/facts.ts';

/** `after` is undefined when the pod is gone, finished or not ours. */
export type AttachmentListener = (pod: string, after: PodAttachments | undefined) => void;

export class AttachmentRegistry implements AttachmentSink {
  readonly #byPod = new Map<string, PodAttachments>();
  readonly #podOfOwner = new Map<string, string>();
  readonly #listeners = new Set<AttachmentListener>();
  /** By pod, so that a change costs what waits for that pod. */
  readonly #waiters = new Map<string, Set<() => void>>();

  set(owner: string, attachments: PodAttachments): void {
    const pod = podKey(attachments.pod);
    this.#podOfOwner.set(owner, pod);
    this.#byPod.set(pod, attachments);
    this.#tell(pod, attachments);
  }

  delete(owner: string): void {
    const pod = this.#podOfOwner.get(owner);
    if (pod === undefined) return;
    this.#podOfOwner.delete(owner);
    this.#byPod.delete(pod);
    this.#tell(pod, undefined);
  }

  get(pod: string): PodAttachments | undefined {
    return this.#byPod.get(pod);
  }

  values(): IterableIterator<PodAttachments> {
    return this.#byPod.values();
  }

  /** Called after every change. */
  subscribe(listener: AttachmentListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves with what `check` returns as soon as that is not undefined. `check` is asked now and whenever the pod's
   * attachments change; what it throws rejects.
   * @throws the signal's reason
   */
  until<Result>(
    pod: string,
    check: (attachments: PodAttachments | undefined) => Result | undefined,
    signal: AbortSignal,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const ask = (): void => {
      try {
        signal.throwIfAborted();
        const result = check(this.#byPod.get(pod));
        if (result !== undefined) resolve(result);
      } catch (error) {
        reject(error);
      }
    };
    const waiters = this.#waiters.get(pod) ?? new Set();
    this.#waiters.set(pod, waiters.add(ask));
    signal.addEventListener('abort', ask, { once: true });
    ask();
    return promise.finally(() => {
      signal.removeEventListener('abort', ask);
      waiters.delete(ask);
      if (waiters.size === 0 && this.#waiters.get(pod) === waiters) this.#waiters.delete(pod);
    });
  }

  #tell(pod: string, after: PodAttachments | undefined): void {
    for (const listener of this.#listeners) listener(pod, after);
    for (const ask of [...(this.#waiters.get(pod) ?? [])]) ask();
  }
}
