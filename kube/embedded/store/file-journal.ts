/**
 * A journal in a file, written synchronously, so that a change is there before anybody is notified of it. It resists the
 * end of the process (SIGKILL too), not that of the machine: nothing is synchronised to a disk. For one server at a time.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { codeOf } from '../../../base/error-code.ts';
import { formatChange, formatHeader, type Journal, type JournalContent, parseJournal } from './journal.ts';

export interface FileJournal extends Journal {
  /** What an earlier server wrote. Must be rewritten before anything is appended. */
  readonly earlier: JournalContent | undefined;
  close(): void;
}

export interface FileJournalOptions {
  /** How many bytes may be appended at least before it is full. Default 16 MiB. */
  readonly minFullBytes?: number | undefined;
  /** Called when it could not be rewritten. */
  readonly onError: (error: unknown) => void;
}

/** @throws KubeError ERR_KUBE_DATA when the file holds something else */
export const openFileJournal = (
  path: string,
  { minFullBytes = 16 * 1024 * 1024, onError }: FileJournalOptions,
): FileJournal => {
  const earlier = parseJournal(readIfThere(path), path);
  let file: LineFile | undefined;
  let fullAt = 0;
  return {
    earlier,
    append: (change) => {
      if (file === undefined) throw new Error(`${path} is not open`);
      file.write(formatChange(change));
    },
    rewrite: ({ revision, objects }) => {
      try {
        const next = writeAll(path, formatHeader(revision), objects, formatChange);
        file?.close();
        file = next;
      } catch (error) {
        if (file === undefined) throw error;
        onError(error);
      }
      fullAt = Math.max(minFullBytes, file.size) + file.size;
    },
    get isFull() {
      return file !== undefined && file.size > fullAt;
    },
    close: () => {
      file?.close();
      file = undefined;
    },
  };
};

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
};

interface LineFile {
  readonly size: number;
  /** All of it or, when it throws, nothing. */
  write(text: string): void;
  close(): void;
}

/** Takes the place of the file at `path` when it is complete. */
const writeAll = <T>(path: string, first: string, items: Iterable<T>, format: (item: T) => string): LineFile => {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = createLineFile(draft);
  try {
    let batch = first;
    for (const item of items) {
      batch += format(item);
      if (batch.length < BATCH) continue;
      file.write(batch);
      batch = '';
    }
    file.write(batch);
    renameSync(draft, path);
    return file;
  } catch (error) {
    file.close();
    rmSync(draft, { force: true });
    throw error;
  }
};

const BATCH = 1024 * 1024;

const createLineFile = (path: string): LineFile => {
  const descriptor = openSync(path, 'ax', 0o600);
  let size = 0;
  let isBroken = false;
  return {
    get size() {
      return size;
    },
    write: (text) => {
      if (isBroken) throw new Error(`${path} ends in the middle of a line, and could not be cut`);
      const bytes = Buffer.from(text);
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
        size += bytes.length;
      } catch (error) {
        isBroken = true;
        ftruncateSync(descriptor, size);
        isBroken = false;
        throw error;
      }
    },
    close: () => closeSync(descriptor),
  };
};
