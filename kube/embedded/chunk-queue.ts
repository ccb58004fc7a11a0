/** Chunks from a producer that can't wait to a consumer that comes when it likes. */
export interface ChunkQueue {
  push(chunk: Uint8Array): void;
  /** What was pushed before is still delivered; then the iteration ends, or throws `error`. The first call counts. */
  end(error?: unknown): void;
  /** @param onLeave the consumer has left early */
  iterate(onLeave: () => void): AsyncIterator<Uint8Array>;
}

export const createChunkQueue = (): ChunkQueue => {
  const chunks: Uint8Array[] = [];
  let ended: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const signal = (): void => {
    wake?.();
    wake = undefined;
  };
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) return { done: false, value: chunk };
      if (ended !== undefined) {
        if (ended.error !== undefined) throw ended.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    push: (chunk) => {
      if (ended !== undefined) return;
      chunks.push(chunk);
      signal();
    },
    end: (error) => {
      ended ??= { error };
      signal();
    },
    iterate: (onLeave) => ({
      next,
      return: () => {
        onLeave();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
};
