/**
 * What is written down of a store, as lines of JSON:
 *
 *     {"journal":1,"revision":7}             what follows and is not newer than 7 is the state then, in any order
 *     {"put":"/pods","object":{…}}           the rest are changes, oldest first; `metadata.resourceVersion` is their revision
 *     {"removed":"/pods","object":{…}}       the last state, with the revision of the removal
 */
import { KubeError } from '../../errors.ts';
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import { objectJson } from './serialise.ts';
import type { Stored } from './store.ts';

export interface Journal {
  /**
   * Resists the end of the process when it returns.
   * @throws Error when it could not be written; then nothing of it is
   */
  append(change: JournalChange): void;
  /** Replaces everything. When that fails, what was there stays, and `append` goes on. */
  rewrite(state: JournalState): void;
  /** So much has been appended that it should be rewritten. */
  readonly isFull: boolean;
}

export interface JournalChange {
  readonly type: 'put' | 'removed';
  readonly collection: string;
  readonly stored: Stored;
}

export interface JournalState {
  readonly revision: number;
  readonly objects: Iterable<JournalChange>;
}

/** As it is read. */
export interface JournalContent {
  readonly revision: number;
  readonly entries: readonly JournalEntry[];
}

export interface JournalEntry {
  readonly type: 'put' | 'removed';
  readonly collection: string;
  readonly revision: number;
  readonly object: JsonRecord;
}

const FORMAT = 1;

export const formatHeader = (revision: number): string => `${JSON.stringify({ journal: FORMAT, revision })}\n`;

export const formatChange = ({ type, collection, stored }: JournalChange): string =>
  `{"${type}":${JSON.stringify(collection)},"object":${objectJson(stored)}}\n`;

/**
 * A last line without its line feed was being written when the server ended: nobody has been notified of it, so it is left
 * out.
 * @returns undefined when there is nothing
 * @throws KubeError ERR_KUBE_DATA for anything else that is not a journal
 */
export const parseJournal = (text: string, origin: string): JournalContent | undefined => {
  const [header, ...lines] = text.split('\n').slice(0, -1);
  if (header === undefined) return undefined;
  const { journal, revision } = recordOr(parsed(header, origin, 1));
  if (journal !== FORMAT || typeof revision !== 'number') throw damaged(origin, 1);
  return { revision, entries: lines.map((line, i) => entryOf(parsed(line, origin, i + 2), origin, i + 2)) };
};

const entryOf = (value: unknown, origin: string, line: number): JournalEntry => {
  const { put, removed, object } = recordOr(value);
  const collection = put ?? removed;
  const revision = Number(recordOr(recordOr(object)['metadata'])['resourceVersion']);
  if (typeof collection !== 'string' || !isRecord(object) || !Number.isSafeInteger(revision)) {
    throw damaged(origin, line);
  }
  return { type: put === undefined ? 'removed' : 'put', collection, revision, object };
};

const parsed = (line: string, origin: string, number: number): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    throw damaged(origin, number);
  }
};

const damaged = (origin: string, line: number): KubeError =>
  new KubeError('ERR_KUBE_DATA', `${origin}, line ${line}: this is not a journal, or it is damaged`);
