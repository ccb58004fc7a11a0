/** The stream of the console, read by fetch: an EventSource cannot send the token. It is opened again when it ends. */
import type { StreamEvents } from '../types.ts';

export interface StreamOptions {
  readonly network: string | undefined;
  readonly token: string;
  readonly onEvent: <Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]) => void;
  /** It has ended, or could not be opened, and why. */
  readonly onLost: (message: string) => void;
}

const RETRY_MS = 2_000;
/** Three pulses of the console. */
const SILENCE_MS = 15_000;

/** Returns what closes it. */
export const openStream = (options: StreamOptions): (() => void) => {
  const closed = new AbortController();
  void keepOpen(options, closed.signal);
  return () => closed.abort();
};

const keepOpen = async (options: StreamOptions, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const message = await readOnce(options, signal);
    if (signal.aborted) return;
    options.onLost(message);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};

/** @returns why it ended */
const readOnce = async ({ network, token, onEvent }: StreamOptions, signal: AbortSignal): Promise<string> => {
  const silence = new AbortController();
  let timer = 0;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    heard();
    const response = await fetch(
      `/api/stream${network === undefined ? '' : `?network=${encodeURIComponent(network)}`}`,
      {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.any([signal, silence.signal]),
      },
    );
    if (!response.ok || response.body === null) return (await response.text()).trim();
    const events = eventReader(onEvent);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'the console has ended the stream';
      heard();
      events(value);
    }
  } catch {
    return silence.signal.aborted ? 'the console is silent' : 'the console does not answer';
  } finally {
    clearTimeout(timer);
  }
};

/** Takes text as it comes, and calls back for each whole event. */
const eventReader = (onEvent: StreamOptions['onEvent']): ((text: string) => void) => {
  let rest = '';
  return (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, name, data] = /^event: (model|detail|pulse)\ndata: (.*)$/.exec(event) ?? [];
      if (name !== undefined && data !== undefined) onEvent(name as keyof StreamEvents, JSON.parse(data));
    }
  };
};
