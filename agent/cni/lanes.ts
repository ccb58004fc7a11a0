/**
 * Orders the calls about one pod: one at a time, in the order in which they came. A call that makes a waiting ADD
 * pointless ends it: a DEL of the same sandbox, or an ADD of a newer one. What the agent does by itself about a pod is ordered with them.
 */
import { CniError } from '../../api/cni/error.ts';
import { MultiMap } from '../../base/multi-map.ts';

export interface LaneCall {
  /** `namespace/name` */
  readonly pod: string;
  readonly sandbox: string;
  /** `replug`: the agent's own; as pointless as an ADD. */
  readonly command: 'ADD' | 'DEL' | 'CHECK' | 'replug';
}

interface Running extends LaneCall {
  readonly controller: AbortController;
}

export class PodLanes {
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #calls = new MultiMap<Running>();

  /** @param work gets a signal that aborts with `signal`, or when a later call makes it pointless */
  async run<Result>(
    call: LaneCall,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const before = this.#tails.get(call.pod) ?? Promise.resolve();
    this.#endPointless(call);
    const running = this.#enter(call);
    const result = before.then(() => {
      const both = AbortSignal.any([signal, running.controller.signal]);
      both.throwIfAborted();
      return work(both);
    });
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(call.pod, tail);
    try {
      return await result;
    } finally {
      this.#calls.delete(running.pod, running);
      if (this.#tails.get(call.pod) === tail) this.#tails.delete(call.pod);
    }
  }

  /** The sandboxes of all calls that are waiting or under way. */
  sandboxes(): string[] {
    return [...this.#calls.keys()].flatMap((pod) => [...this.#calls.get(pod)].map(({ sandbox }) => sandbox));
  }

  #endPointless({ pod, sandbox, command }: LaneCall): void {
    for (const other of this.#calls.get(pod)) {
      if (other.command !== 'ADD' && other.command !== 'replug') continue;
      const isSame = other.sandbox === sandbox;
      if (command === 'DEL' && isSame) other.controller.abort(superseded(`DEL of sandbox ${sandbox}`));
      if (command === 'ADD' && !isSame) other.controller.abort(superseded(`ADD of sandbox ${sandbox}`));
    }
  }

  #enter(call: LaneCall): Running {
    const running = { ...call, controller: new AbortController() };
    this.#calls.add(call.pod, running);
    return running;
  }
}

const superseded = (by: string): CniError => new CniError('podGone', `this ADD was superseded by a ${by}`);
