/** Host isolation of which a test says what is lacking. */
import { abortable } from '../../base/abort.ts';
import type { HostIsolation } from '../cni/host-isolation.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { isolationKeysOf } from '../model/isolation-keys.ts';

export class FakeIsolation implements HostIsolation {
  #lacking: string | undefined;
  readonly #waiters = new Set<() => void>();

  /** How many calls wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  set lacking(reason: string | undefined) {
    this.#lacking = reason;
    if (reason === undefined) for (const resolve of this.#waiters) resolve();
  }

  lackingOf(pod: PodAttachments): string | undefined {
    return isolationKeysOf(pod).length === 0 ? undefined : this.#lacking;
  }

  async untilIsolated(pod: PodAttachments, signal: AbortSignal): Promise<void> {
    if (this.lackingOf(pod) === undefined) return;
    await abortable<void>(signal, (resolve) => {
      this.#waiters.add(resolve);
      return () => this.#waiters.delete(resolve);
    });
  }
}
