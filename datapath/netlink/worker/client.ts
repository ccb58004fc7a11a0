/** The kernel as the main thread sees it: promises, and a worker thread that does the work. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { abortable } from '../../../base/abort.ts';
import { NetlinkError, netlinkFault } from '../errors.ts';
import { defaultAddonPath } from '../kernel/addon.ts';
import type { OpFailure } from '../kernel/types.ts';
import type { NetlinkListener } from '../monitor/events.ts';
import type { Changes, Netlink, Query, Snapshot } from '../netlink.ts';
import type { PodInterfaces } from '../pod-interface/types.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './protocol.ts';
import type { NetlinkService } from './service.ts';
import { fromWireError } from './wire-error.ts';

export interface NetlinkOptions {
  /** The native addon; where `make build` puts it when absent. */
  readonly addonPath?: string;
  /** The namespace that counts as the own one, where that is not the process'. For tests and simulated nodes. */
  readonly ownNetns?: string;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Starts the worker thread. `close` (or `await using`) ends it when what is under way is done. */
export const startNetlink = (options: NetlinkOptions = {}): NetlinkWorker => new NetlinkWorker(options);

interface Call {
  readonly since: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onLinked: (() => void) | undefined;
}

/** A worker that died stays dead, and every later call fails: whoever supervises the process starts it again. */
export class NetlinkWorker implements Netlink, AsyncDisposable {
  readonly pods: PodInterfaces;
  readonly #worker: Worker;
  readonly #now: () => number;
  /** In the order of the calls. */
  readonly #calls = new Map<number, Call>();
  readonly #listeners = new Set<NetlinkListener>();
  #watching = false;
  #nextId = 1;
  #gone: NetlinkError | undefined;
  readonly #ended = Promise.withResolvers<NetlinkError>();

  constructor({ addonPath = defaultAddonPath(), ownNetns, now = () => performance.now() }: NetlinkOptions) {
    this.#now = now;
    this.pods = {
      ensure: (pod, signal, onLinked) => this.#call('ensurePod', [pod], signal, onLinked),
      raise: (hostNames, signal) => this.#call('raiseHostEnds', [hostNames], signal),
      check: (pod, signal) => this.#call('checkPod', [pod], signal),
      remove: (ends, signal) => this.#call('removePodInterfaces', [ends], signal),
      keepFilters: (filters, needless, signal) => this.#call('keepFilters', [filters, needless], signal),
      whyNoFilters: (signal) => this.#call('whyNoFilters', [], signal),
      list: (aliasPrefix, signal) => this.#call('listHostEnds', [aliasPrefix], signal),
    };
    const workerData: WorkerOptions = { addonPath, ownNetns };
    // The sockets are no files of Node's, which would warn when they are closed.
    this.#worker = new Worker(workerUrl(), { name: 'netlink', workerData, execArgv: [], trackUnmanagedFds: false });
    this.#worker.on('message', (message: FromWorker) => this.#settle(message));
    this.#worker.on('error', (cause) => this.#end(cause));
    this.#worker.on('exit', () => this.#end());
  }

  read(query: Query, signal?: AbortSignal): Promise<Snapshot> {
    return this.#call('read', [query], signal);
  }

  async apply(changes: Changes, signal?: AbortSignal): Promise<readonly OpFailure[]> {
    const refused = await this.#call('apply', [changes], signal);
    return refused.flatMap(({ index, error: wire }) => {
      const op = changes.ops[index];
      const error = fromWireError(wire);
      return op === undefined || !(error instanceof NetlinkError) ? [] : [{ op, error }];
    });
  }

  watch(listener: NetlinkListener): () => void {
    if (!this.#watching) this.#post({ kind: 'watch' });
    this.#watching = true;
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  oldestCallAge(): number | undefined {
    const [oldest] = this.#calls.values();
    return oldest && this.#now() - oldest.since;
  }

  /** Has the worker's thread collect its garbage. Not while this thread does: what V8 needs for it is a flag of the process. */
  collectGarbage(): Promise<void> {
    return this.#request((id) => ({ kind: 'collect', id }));
  }

  /** Resolves with why the worker has ended; after `close`, too. */
  whenEnded(): Promise<NetlinkError> {
    return this.#ended.promise;
  }

  async close(): Promise<void> {
    if (this.#gone !== undefined) return;
    const exit = once(this.#worker, 'exit');
    this.#post({ kind: 'close' });
    await exit;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #call<M extends keyof NetlinkService>(
    method: M,
    args: Parameters<NetlinkService[M]>,
    signal?: AbortSignal,
    onLinked?: () => void,
  ): Promise<Awaited<ReturnType<NetlinkService[M]>>> {
    return this.#request((id) => ({ kind: 'call', id, method, args }), signal, onLinked);
  }

  #request<Result>(message: (id: number) => ToWorker, signal?: AbortSignal, onLinked?: () => void): Promise<Result> {
    return abortable(signal, (resolve, reject) => {
      if (this.#gone !== undefined) throw this.#gone;
      const id = this.#nextId++;
      // An aborted call stays here until it is answered: it occupies the worker all the same.
      this.#calls.set(id, { since: this.#now(), resolve, reject, onLinked });
      this.#post(message(id));
      return () => undefined;
    });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #settle(message: FromWorker): void {
    if ('events' in message) {
      for (const listener of this.#listeners) listener(message.events);
      return;
    }
    const call = this.#calls.get(message.id);
    if ('linked' in message) {
      call?.onLinked?.();
      return;
    }
    this.#calls.delete(message.id);
    if ('error' in message) call?.reject(fromWireError(message.error));
    // The worker is our own code: what it answers is what the method gives.
    else call?.resolve(message.value as never);
  }

  #end(cause?: unknown): void {
    this.#gone ??= netlinkFault('ERR_NETLINK_WORKER', 'the netlink worker has ended', cause);
    for (const { reject } of this.#calls.values()) reject(this.#gone);
    this.#calls.clear();
    this.#ended.resolve(this.#gone);
  }
}

/** In a bundle the worker is a file beside it; from source Node runs the TypeScript. */
const workerUrl = (): URL =>
  new URL(import.meta.url.endsWith('.ts') ? './netlink-worker.ts' : './netlink-worker.mjs', import.meta.url);
