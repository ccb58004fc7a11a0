/** One condition of the agent's own Node, as the agent sees it. */
import { isOfSilentNode } from '../../api/node-condition.ts';
import type { Clock } from '../../base/clock.ts';
import { readNodeCondition } from '../../kube/node-condition.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { FoundCondition } from '../inputs/node-projection.ts';

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
/** A request whose connection has died hears nothing: what waits behind it is newer than it. */
const PATIENCE_MS = 10_000;

/** Writes the condition when it has changed, until the server has it. */
export class NodeCondition {
  readonly #options: NodeConditionOptions;
  readonly #stop = new AbortController();
  #desired: ConditionVerdict | undefined;
  #written: (ConditionVerdict & { readonly since: string }) | undefined;
  /** How often others have written in our place. */
  #overruled = 0;
  #isWriting = false;
  /** In the API. Before anything is heard of it, as little as of one that somebody else has written. */
  #found: FoundCondition | undefined = 'foreign';
  #isLooking = false;
  #cancelLook = (): void => undefined;
  #cancelRetry = (): void => undefined;

  constructor(options: NodeConditionOptions) {
    this.#options = options;
  }

  set(verdict: ConditionVerdict | undefined): void {
    if (verdict === undefined) return;
    this.#desired = verdict;
    void this.#write();
  }

  /**
   * The cluster manager writes it while the agent is silent. And what was sent before a connection broke may arrive after what has
   * replaced it: kernels send again what a closed connection has not delivered. After a while, because our own writes come here, too.
   * A Node that was deleted and registers again has none.
   * @param condition as it is in the API; undefined: absent. With other programs we do not compete.
   */
  found(condition: FoundCondition | undefined): void {
    this.#found = condition;
    const isOfManager = typeof condition === 'object' && isOfSilentNode(condition.reason);
    if (this.#isOutdated()) this.#look(isOfManager ? 0 : RETRY_MS);
  }

  stop(): void {
    this.#stop.abort();
    this.#cancelRetry();
    this.#cancelLook();
  }

  #look(delay: number): void {
    if (this.#isLooking || this.#stop.signal.aborted) return;
    this.#isLooking = true;
    this.#cancelLook = this.#options.clock.schedule(delay, () => {
      this.#isLooking = false;
      if (!this.#isOutdated()) return;
      this.#overruled += 1;
      this.#written = undefined;
      void this.#write();
    });
  }

  #isOutdated(): boolean {
    const [found, desired] = [this.#found, this.#desired];
    if (found === 'foreign' || desired === undefined) return false;
    return found?.status !== desired.status || found.reason !== desired.reason;
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { signal } = this.#stop;
    try {
      while (this.#desired !== undefined && !signal.aborted && !isSame(this.#desired, this.#written)) {
        await this.#writeInTime(this.#desired, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
    this.#isWriting = false;
  }

  async #writeInTime(verdict: ConditionVerdict, stop: AbortSignal): Promise<void> {
    const patience = new AbortController();
    const cancel = this.#options.clock.schedule(PATIENCE_MS, () =>
      patience.abort(new Error(`the API server has not answered within ${PATIENCE_MS} ms`)),
    );
    try {
      await this.#writeOnce(verdict, AbortSignal.any([stop, patience.signal]));
    } finally {
      cancel();
    }
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
