/** One page of a browser. */
import type { DevTools } from './dev-tools.ts';

export interface Page {
  /** What an expression gives, as JSON; a promise is awaited. @throws what the page throws */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Resolves when the expression is true: it is looked at whenever the document changes. @throws Error in the end */
  until(expression: string, timeoutMs?: number): Promise<void>;
  /** Evaluates what leads to another page, and resolves when that has been loaded. */
  follow(expression: string): Promise<void>;
  press(key: Key): Promise<void>;
  setScheme(scheme: 'light' | 'dark'): Promise<void>;
  setSize(width: number, height: number): Promise<void>;
  /** PNG of the window. */
  screenshot(): Promise<Buffer>;
  /** The accessibility tree: `role: name` of each node that has both. */
  accessibleNames(): Promise<readonly string[]>;
  /** What the page has logged as an error, or could not load; policies that were violated, too. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export type Key = 'Tab' | 'Enter' | ' ';

const CODES: Readonly<
  Record<Key, { readonly code: string; readonly windowsVirtualKeyCode: number; readonly text?: string }>
> = {
  Tab: { code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  ' ': { code: 'Space', windowsVirtualKeyCode: 32, text: ' ' },
};

const TIMEOUT_MS = 15_000;

export const openPage = async (tools: DevTools, url: string): Promise<Page> => {
  const { browserContextId } = await tools.call('Target.createBrowserContext');
  const { targetId } = await tools.call('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await tools.call('Target.attachToTarget', { targetId, flatten: true });
  const call = (method: string, parameters: object = {}) => tools.call(method, parameters, String(sessionId));
  const complaints: string[] = [];
  let loaded = Promise.withResolvers<void>();
  const stopListening = tools.on(String(sessionId), (method, parameters) => {
    complaints.push(...complaintIn(method, parameters));
    if (method === 'Page.loadEventFired') loaded.resolve();
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Accessibility']) await call(`${domain}.enable`);
  const { errorText } = await call('Page.navigate', { url });
  if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
  await loaded.promise;
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = (await call('Runtime.evaluate', {
      ...{ expression, awaitPromise: true, returnByValue: true },
    })) as { result: { value: Value }; exceptionDetails?: { exception?: { description?: string }; text: string } };
    if (exceptionDetails === undefined) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  };
  return {
    evaluate,
    complaints,
    until: async (expression, timeoutMs = TIMEOUT_MS) => {
      const found = await evaluate<boolean>(untilChanged(expression, timeoutMs));
      if (!found)
        throw new Error(
          `not within ${timeoutMs} ms: ${expression}\n${await evaluate<string>('document.body.innerText')}`,
        );
    },
    follow: async (expression) => {
      loaded = Promise.withResolvers<void>();
      await evaluate(expression);
      await loaded.promise;
    },
    press: async (key) => {
      await call('Input.dispatchKeyEvent', { type: 'keyDown', key, ...CODES[key] });
      await call('Input.dispatchKeyEvent', { type: 'keyUp', key, ...CODES[key] });
    },
    setScheme: async (value) => {
      await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    },
    setSize: async (width, height) => {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    },
    screenshot: async () => {
      const { data } = await call('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
    },
    accessibleNames: async () => namesIn(await call('Accessibility.getFullAXTree')),
    close: async () => {
      stopListening();
      await tools.call('Target.disposeBrowserContext', { browserContextId });
    },
  };
};

/** A document that is being replaced has no observer: whoever waits is in the document that is to come true. */
const untilChanged = (expression: string, timeoutMs: number): string => `new Promise((resolve) => {
  const isTrue = () => Boolean(${expression});
  const finish = (found) => { observer.disconnect(); clearTimeout(timer); resolve(found); };
  const observer = new MutationObserver(() => { if (isTrue()) finish(true); });
  const timer = setTimeout(() => finish(isTrue()), ${timeoutMs});
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  if (isTrue()) finish(true);
})`;

type Fields = Readonly<Record<string, unknown>>;

const complaintIn = (method: string, parameters: Fields): readonly string[] => {
  if (method === 'Runtime.exceptionThrown') return [JSON.stringify(parameters['exceptionDetails'])];
  if (method !== 'Log.entryAdded') return [];
  const { level, text } = parameters['entry'] as { readonly level: string; readonly text: string };
  return level === 'error' ? [text] : [];
};

interface AccessibleNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

const namesIn = ({ nodes }: Fields): readonly string[] =>
  (nodes as readonly AccessibleNode[]).flatMap(({ ignored, role, name }) =>
    ignored || role === undefined || name === undefined || name.value === '' ? [] : [`${role.value}: ${name.value}`],
  );
