/**
 * Sends the transactions of a bulk load one after the other without waiting for replies. Whatever becomes of them, what is
 * missing afterwards is found by comparing: nothing is repeated here, and nobody is blamed.
 */
import type { Clock } from '../../../base/clock.ts';
import { isServerTrouble, OvsdbError } from '../../errors.ts';
import type { LoadTransaction } from './load-transactions.ts';

export interface BulkSession {
  /** As `OvsdbSession.transactText`. */
  transactText(operations: string): Promise<void>;
}

export interface BulkLoadOptions {
  /** Undefined: the next one is not complete. */
  readonly transactions: Iterable<LoadTransaction | undefined>;
  readonly session: BulkSession;
  /** Of text that was sent and not answered; one transaction may be more. */
  readonly maxBytes: number;
  /** False: no more is sent. */
  readonly mayGoOn: () => boolean;
  readonly onReply: (reply: LoadReply) => void;
  readonly clock: Clock;
}

export interface LoadReply extends Pick<LoadTransaction, 'operations' | 'owners' | 'rows'> {
  readonly durationMs: number;
  /** Undefined: it was committed. */
  readonly error?: OvsdbError;
}

/** Resolves when all that was sent is answered, or never will be. */
export const bulkLoad = async (options: BulkLoadOptions): Promise<void> => {
  const load = new BulkLoad(options);
  for (const transaction of options.transactions) {
    if (transaction !== undefined) load.send(transaction);
    await load.whenThereIsRoom();
    if (load.isOver || !options.mayGoOn()) break;
  }
  await load.whenAnswered();
};

class BulkLoad {
  readonly #options: BulkLoadOptions;
  readonly #underWay = new Set<Promise<void>>();
  #bytes = 0;
  #sent = 0;
  #isOver = false;

  constructor(options: BulkLoadOptions) {
    this.#options = options;
  }

  /** True when more would fail as well: the server has trouble, or does not take part in this at all. */
  get isOver(): boolean {
    return this.#isOver;
  }

  send(transaction: LoadTransaction): void {
    const isFirst = this.#sent++ === 0;
    const { length } = transaction.text;
    this.#bytes += length;
    const answered = this.#answer(transaction, isFirst).then(() => {
      this.#bytes -= length;
      this.#underWay.delete(answered);
    });
    this.#underWay.add(answered);
  }

  async whenThereIsRoom(): Promise<void> {
    // Replies and what the mirror is told are read in between: ovsdb-server takes no request while it has something to tell.
    await new Promise(setImmediate);
    while (this.#bytes > this.#options.maxBytes) await Promise.race(this.#underWay);
  }

  async whenAnswered(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #answer({ text, operations, owners, rows }: LoadTransaction, isFirst: boolean): Promise<void> {
    const { session, clock, onReply } = this.#options;
    const sentAt = clock.monotonic();
    const reply = (error?: OvsdbError): void => {
      onReply({ operations, owners, rows, durationMs: clock.monotonic() - sentAt, ...(error && { error }) });
    };
    try {
      await session.transactText(text);
      reply();
    } catch (cause) {
      const error = cause instanceof OvsdbError ? cause : new OvsdbError('ERR_OVSDB', String(cause), { cause });
      // The first one finds out whether the server knows uuids chosen by clients, and whether its tables are empty.
      this.#isOver ||= isFirst || isServerTrouble(error);
      reply(error);
    }
  }
}
