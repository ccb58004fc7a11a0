/** One condition of the agent's own Node, as the agent sees it. */
import type { Clock } from '../../base/clock.ts';
import { readNodeCondition } from '../../kube/node-condition.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';

export interface NodeConditionOptions {
  readonly node: string;
  readonly type: string;
  /** Default: the writer's. Two conditions have two, or each would take the other away (server-side apply). */
  readonly fieldManager?: string | undefined;
  readonly client: Pick<KubeClient, 'get'>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface ConditionVerdict {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const RETRY_MS = 5_000;

/** Writes the condition when it has changed, until the server has it. */
export class NodeCondition {
  readonly #options: NodeConditionOptions;
  readonly #stop = new AbortController();
  #desired: ConditionVerdict | undefined;
  #written: (ConditionVerdict & { readonly since: string }) | undefined;
  /** How often others have written in our place. */
  #overruled = 0;
  #isWriting = false;
  #cancelRetry = (): void => undefined;

  constructor(options: NodeConditionOptions) {
    this.#options = options;
  }

  set(verdict: ConditionVerdict | undefined): void {
    if (verdict === undefined) return;
    this.#desired = verdict;
    void this.#write();
  }

  /** Somebody has written the condition in our place, while we were silent. */
  overruled(): void {
    this.#overruled += 1;
    this.#written = undefined;
    void this.#write();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancelRetry();
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { signal } = this.#stop;
    try {
      while (this.#desired !== undefined && !signal.aborted && !isSame(this.#desired, this.#written)) {
        await this.#writeOnce(this.#desired, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
    this.#isWriting = false;
  }

  async #writeOnce(verdict: ConditionVerdict, signal: AbortSignal): Promise<void> {
    const { node, type, fieldManager, client, writer, clock } = this.#options;
    const overruled = this.#overruled;
    const before = this.#written ?? (await readNodeCondition(client, node, type, signal));
    const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
    const since = before?.status === verdict.status ? before.since : now;
    const condition = { type, ...verdict, lastHeartbeatTime: now, lastTransitionTime: since };
    const object = { metadata: { name: node }, status: { conditions: [condition] } };
    await writer.apply(NODES, object, { subresource: 'status', fieldManager }, signal);
    // What others wrote meanwhile may have come after this.
    this.#written = overruled === this.#overruled ? { ...verdict, since } : undefined;
  }

  #failed(error: unknown): void {
    this.#written = undefined;
    this.#options.onError(error);
    this.#cancelRetry();
    this.#cancelRetry = this.#options.clock.schedule(RETRY_MS, () => void this.#write());
  }
}

const isSame = (a: ConditionVerdict, b: ConditionVerdict | undefined): boolean =>
  a.status === b?.status && a.reason === b.reason && a.message === b.message;
