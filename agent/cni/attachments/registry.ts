/** The attachments of this node's pods, for who gives addresses and who plugs interfaces. */
import { abortable } from '../../../base/abort.ts';
import { MultiMap } from '../../../base/multi-map.ts';
import type { AttachmentSink } from '../../desired/engine.ts';
import type { PodAttachments } from '../../model/attachments.ts';
import { podKey } from '../../model/facts.ts';

/** `after` is undefined when the pod is gone, finished or not ours. */
export type AttachmentListener = (pod: string, after: PodAttachments | undefined) => void;

export class AttachmentRegistry implements AttachmentSink {
  readonly #byPod = new Map<string, PodAttachments>();
  readonly #podOfOwner = new Map<string, string>();
  readonly #listeners = new Set<AttachmentListener>();
  /** By pod, so that a change costs what waits for that pod. */
  readonly #waiters = new MultiMap<() => void>();

  set(owner: string, attachments: PodAttachments): void {
    const pod = podKey(attachments.pod);
    this.#podOfOwner.set(owner, pod);
    this.#byPod.set(pod, attachments);
    this.#notify(pod, attachments);
  }

  delete(owner: string): void {
    const pod = this.#podOfOwner.get(owner);
    if (pod === undefined) return;
    this.#podOfOwner.delete(owner);
    this.#byPod.delete(pod);
    this.#notify(pod, undefined);
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
    return abortable(signal, (resolve, reject) => {
      const ask = (): void => {
        try {
          const result = check(this.#byPod.get(pod));
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      this.#waiters.add(pod, ask);
      ask();
      return () => this.#waiters.delete(pod, ask);
    });
  }

  #notify(pod: string, after: PodAttachments | undefined): void {
    for (const listener of this.#listeners) listener(pod, after);
    for (const ask of [...this.#waiters.get(pod)]) ask();
  }
}
