/** Gets the parts of a bundle, some at once; what cannot be had is a line of the index, and the rest is there all the same. */
import { messageOf } from '../../base/error-message.ts';
import type { TarEntry } from '../../base/tar.ts';
import { redactText } from './redact.ts';

export interface Part {
  /** In the archive. */
  readonly path: string;
  /** @throws what the index says of it */
  readonly read: () => Promise<string | PartResult>;
}

export interface PartResult {
  readonly text: string;
  /** For the index: `exit status 1`. */
  readonly note?: string;
}

export interface Bundle {
  readonly entries: readonly TarEntry[];
  readonly missing: number;
}

/** @param folder the only one at the top of the archive */
export const collect = async (folder: string, parts: readonly Part[]): Promise<Bundle> => {
  const results = await inTurns(parts, AT_ONCE, readPart);
  const index = [...results]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, text, line }) => `${text === undefined ? 'MISSING' : 'ok     '}  ${path}  ${line}`);
  const files = [
    { path: INDEX, text: `${index.join('\n')}\n` },
    ...results.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }])),
  ];
  return {
    entries: files.map(
      ({ path, text }): TarEntry => ({
        ...{ kind: 'file', path: `${folder}/${path}`, mode: 0o600 },
        content: Buffer.from(text),
      }),
    ),
    missing: results.filter(({ text }) => text === undefined).length,
  };
};

const INDEX = 'index.txt';
/** Requests, and commands on nodes. */
const AT_ONCE = 8;

interface Result {
  readonly path: string;
  readonly text?: string;
  readonly line: string;
}

const readPart = async ({ path, read }: Part): Promise<Result> => {
  try {
    const found = await read();
    const { text, note = '' } = typeof found === 'string' ? { text: found } : found;
    const shown = redactText(text);
    return { path, text: shown, line: `${Buffer.byteLength(shown)} bytes ${note}`.trimEnd() };
  } catch (error) {
    return { path, line: redactText(messageOf(error)).replaceAll('\n', ' ') };
  }
};

const inTurns = async <Item, Value>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> => {
  const values: Value[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) values[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return values;
};
