/**
 * A bundle that goes to the bridge in bytes of our own making. What they are not known of, and what the bridge refuses, is left to
 * ovs-ofctl(8), which knows everything and has words for it.
 */
import { messageOf } from '../../../base/error-message.ts';
import { OpenflowError } from '../errors.ts';
import type { BundleDraft, BundleOp } from '../switch-client.ts';
import { encodeSteps } from './bundle.ts';
import { BundleSession } from './bundle-session.ts';

export interface DraftOptions {
  readonly bridge: string;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Tells ovs-ofctl all of it. */
  readonly byProgram: (ops: readonly BundleOp[]) => Promise<void>;
}

export class SocketDraft implements BundleDraft {
  readonly #options: DraftOptions;
  readonly #ops: BundleOp[] = [];
  #session: BundleSession | undefined;
  #isLeft = false;

  constructor(options: DraftOptions) {
    this.#options = options;
  }

  push(ops: readonly BundleOp[]): void {
    for (const op of ops) this.#ops.push(op);
    const steps = this.#isLeft || ops.length === 0 ? undefined : encodeSteps(ops);
    if (steps !== undefined) {
      this.#session ??= new BundleSession(this.#options.path);
      this.#session.push(steps);
    } else if (ops.length > 0) {
      this.#isLeft = true;
      this.drop();
    }
  }

  async commit(): Promise<void> {
    const { signal, bridge, byProgram } = this.#options;
    if (this.#ops.length === 0) return;
    const outcome = this.#isLeft ? 'refused' : await this.#committed(signal, bridge);
    if (outcome === 'refused') await byProgram(this.#ops);
  }

  drop(): void {
    this.#session?.end();
  }

  async #committed(signal: AbortSignal, bridge: string): Promise<'done' | 'refused' | undefined> {
    try {
      return await this.#session?.commit(signal);
    } catch (cause) {
      signal.throwIfAborted();
      const why = messageOf(cause);
      throw new OpenflowError('ERR_OPENFLOW_UNREACHABLE', `bridge ${bridge} does not answer: ${why}`, { cause });
    }
  }
}
