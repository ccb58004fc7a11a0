/** Whether the node's own processes are kept from pods of primary networks. */
import type { PodAttachments } from '../model/attachments.ts';

export interface HostIsolation {
  /** What is not in the kernel yet of that which isolates a pod, a message without a full stop; undefined: nothing. */
  lackingOf(pod: PodAttachments): string | undefined;
  /** Resolves when nothing is lacking any more. @throws the signal's reason */
  untilIsolated(pod: PodAttachments, signal: AbortSignal): Promise<void>;
}
