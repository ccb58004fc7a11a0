/** A client whose lists and watches fail as tests say. */
import type { KubeClient, KubeList, WatchOptions, WatchStream } from '../types.ts';

/** What happens to the next list. */
export type ListFault = { readonly throw: unknown };

/** What happens to the next watch: the lines of the server pass through it. */
export interface WatchFault {
  /** Thrown in place of a response. */
  readonly throw?: unknown;
  /** After so many bytes of the stream … */
  readonly afterBytes?: number;
  /** … and when this resolves … */
  readonly after?: () => Promise<void>;
  /** … it throws this, */
  readonly fails?: unknown;
  /** … or sends these bytes instead of what follows, */
  readonly send?: string;
  /** … or says nothing any more, */
  readonly silence?: boolean;
  /** … or ends in order (the default). */
  readonly end?: true;
  /** Sends every line twice. */
  readonly duplicate?: boolean;
  /** Cuts chunks into pieces of this many bytes. */
  readonly pieces?: number;
}

export interface FaultyClient extends Pick<KubeClient, 'list' | 'watch' | 'request'> {
  /** What it answers when it is asked for what is served; undefined: what it serves. */
  discovery: (() => unknown) | undefined;
  /** What it answers when it is asked for a definition; undefined: what it has. */
  definition: (() => unknown) | undefined;
  /** Faults of the next lists and watches, in order; undefined: nothing happens to that one. */
  readonly lists: (ListFault | undefined)[];
  readonly watches: (WatchFault | undefined)[];
  readonly calls: string[];
}

export const createFaultyClient = (client: Pick<KubeClient, 'list' | 'watch' | 'request'>): FaultyClient => {
  const [lists, watches, calls]: [FaultyClient['lists'], FaultyClient['watches'], string[]] = [[], [], []];
  const faulty: FaultyClient = {
    discovery: undefined,
    definition: undefined,
    lists,
    watches,
    calls,
    request: async (request, signal) => {
      calls.push(`${request.method} ${request.path}`);
      const answer = request.path.includes('/customresourcedefinitions/') ? faulty.definition : faulty.discovery;
      return answer === undefined ? await client.request(request, signal) : answer();
    },
    list: async (resource, options, signal): Promise<KubeList> => {
      calls.push(`list${options?.continue === undefined ? '' : ' more'}`);
      const fault = lists.shift();
      if (fault !== undefined) throw fault.throw;
      return await client.list(resource, options, signal);
    },
    watch: async (resource, options: WatchOptions = {}, signal): Promise<WatchStream> => {
      calls.push(`watch ${options.resourceVersion}`);
      const fault = watches.shift();
      if (fault?.throw !== undefined) throw fault.throw;
      const stream = await client.watch(resource, options, signal);
      return fault === undefined ? stream : spoiled(stream, fault, signal);
    },
  };
  return faulty;
};

async function* spoiled(stream: WatchStream, fault: WatchFault, signal: AbortSignal | undefined) {
  const { afterBytes = Number.POSITIVE_INFINITY, pieces = Number.POSITIVE_INFINITY } = fault;
  let left = afterBytes;
  if (left === 0) return yield* ending(fault, signal);
  for await (const chunk of stream) {
    const bytes = fault.duplicate ? Buffer.concat([chunk, chunk]) : chunk;
    for (let at = 0; at < bytes.length; at += pieces) {
      const piece = bytes.subarray(at, Math.min(bytes.length, at + pieces));
      yield piece.subarray(0, left);
      left -= piece.length;
      if (left <= 0) return yield* ending(fault, signal);
    }
  }
}

async function* ending({ after, fails, send, silence }: WatchFault, signal: AbortSignal | undefined) {
  await after?.();
  if (send !== undefined) yield Buffer.from(send);
  if (fails !== undefined) throw fails;
  if (silence) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}
