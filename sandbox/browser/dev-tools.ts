/** The DevTools protocol over a pipe (`--remote-debugging-pipe`): JSON, each message ended by a zero byte. No port is open. */
import type { Readable, Writable } from 'node:stream';

export interface DevTools {
  /** @throws Error with the protocol's message, or why the browser has ended */
  call(method: string, parameters?: object, session?: string): Promise<Readonly<Record<string, unknown>>>;
  /** @returns what ends it */
  on(session: string, listener: Listener): () => void;
  /** What waits for an answer fails. */
  fail(reason: Error): void;
}

type Listener = (method: string, parameters: Readonly<Record<string, unknown>>) => void;

interface Message {
  readonly sessionId?: string;
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export const devTools = (input: Writable, output: Readable): DevTools => {
  const waiting = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  const listeners = new Map<string, Listener>();
  let failure: Error | undefined;
  let lastId = 0;
  let rest = '';
  const take = ({ id, method, params = {}, result = {}, error, sessionId = '' }: Message): void => {
    if (method !== undefined) listeners.get(sessionId)?.(method, params);
    const answer = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || answer === undefined) return;
    waiting.delete(id);
    if (error === undefined) answer.resolve(result);
    else answer.reject(new Error(error.message));
  };
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages) take(JSON.parse(message));
  });
  // It has ended, which its process says.
  input.on('error', () => {});
  return {
    call: (method, params = {}, sessionId) => {
      if (failure !== undefined) return Promise.reject(failure);
      lastId += 1;
      const answer = Promise.withResolvers<Readonly<Record<string, unknown>>>();
      waiting.set(lastId, answer);
      input.write(`${JSON.stringify({ id: lastId, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
      return answer.promise;
    },
    on: (session, listener) => {
      listeners.set(session, listener);
      return () => listeners.delete(session);
    },
    fail: (reason) => {
      failure = reason;
      for (const { reject } of waiting.values()) reject(reason);
      waiting.clear();
    },
  };
};
