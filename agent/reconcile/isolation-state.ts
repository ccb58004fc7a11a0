/** What of host isolation is in the kernel, as the loop that writes it knows. */
import { abortable } from '../../base/abort.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import type { HostIsolation } from '../cni/host-isolation.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { ENCRYPTION_CHAIN_KEYS, ISOLATION_CHAIN_KEYS, isolationKeysOf } from '../model/isolation-keys.ts';
import type { ReconcileLoop } from './reconcile-loop.ts';

export type IsolationLoop = Pick<ReconcileLoop<NftItem>, 'store' | 'statusOf' | 'onLook'>;

export class IsolationState implements HostIsolation {
  readonly #loop: IsolationLoop;

  constructor(loop: IsolationLoop) {
    this.#loop = loop;
  }

  /** Why no pod of a primary network is isolated on this node, a message without a full stop; undefined: they are. */
  lackingOnNode(): string | undefined {
    return this.#lacking(ISOLATION_CHAIN_KEYS);
  }

  /** Why something may leave a tunnel in clear, or be taken so; undefined: nothing does. */
  lackingOfTunnels(): string | undefined {
    return this.#lacking(ENCRYPTION_CHAIN_KEYS);
  }

  lackingOf(pod: PodAttachments): string | undefined {
    return this.#lacking(isolationKeysOf(pod));
  }

  async untilIsolated(pod: PodAttachments, signal: AbortSignal): Promise<void> {
    const keys = isolationKeysOf(pod);
    if (this.#lacking(keys) === undefined) return;
    // A change of the desired state triggers a look by itself, so nothing else needs a listener.
    await abortable<void>(signal, (resolve) =>
      this.#loop.onLook(() => {
        if (this.#lacking(keys) === undefined) resolve();
      }),
    );
  }

  #lacking(keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const why = this.#whyNot(key);
      if (why !== undefined) return `${key}: ${why}`;
    }
    return undefined;
  }

  #whyNot(key: string): string | undefined {
    if (!this.#loop.store.desired.has(key)) return 'not rendered yet';
    const { kind, message } = this.#loop.statusOf(key);
    return kind === 'done' ? undefined : (message ?? 'not programmed yet');
  }
}
