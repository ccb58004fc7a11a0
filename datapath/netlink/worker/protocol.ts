/** What goes between the threads, as structured clones. */
import type { NetlinkEvent } from '../monitor/events.ts';
import type { NetlinkService } from './service.ts';
import type { WireError } from './wire-error.ts';

export interface WorkerOptions {
  readonly addonPath: string;
  /** See `LinuxKernelOptions`. */
  readonly ownNetns: string | undefined;
}

export type ToWorker =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: keyof NetlinkService;
      readonly args: readonly unknown[];
    }
  /** Collect garbage, then answer. */
  | { readonly kind: 'collect'; readonly id: number }
  /** Emit changes from now on; for good. */
  | { readonly kind: 'watch' }
  /** Answer what is under way, then end. */
  | { readonly kind: 'close' };

/** Answers need not come in the order of the calls: removals go on in the background. `linked` comes before an answer. */
export type FromWorker =
  | ({ readonly id: number } & (
      | { readonly value: unknown }
      | { readonly error: WireError }
      | { readonly linked: true }
    ))
  /** Events come before the answer to the call that they led to, but for `ensurePod`. */
  | { readonly events: readonly NetlinkEvent[] };
