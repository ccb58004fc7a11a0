/** Keeps the table `inet ovn-udn` as desired, by transactions of nft. */
import type { Difference } from '../../base/reconciler.ts';
import type { Backend, OutsideChange, ReconcileOutcome, ReconcileRequest } from '../backend.ts';
import { applyOperations } from './apply-operations.ts';
import { problemOf } from './desired-form.ts';
import { differencesOf } from './difference.ts';
import { NftError, refusedLines, toNftError } from './errors.ts';
import { Monitor } from './monitor.ts';
import { type NftCommand, NftProgram } from './nft-program.ts';
import { type Operation, operationAt, scriptOf } from './operations.ts';
import { findingsOf, type PlanInput, planOf } from './plan.ts';
import { chainsInOtherWords, formsScripts } from './rule-forms.ts';
import { emptyTable, type TableState, unreadableTable } from './table-state.ts';
import type { NftItem } from './types.ts';

export interface NftablesOptions extends NftCommand {
  /** Calls back after some milliseconds, unless what it returns is called before. Default: timers of Node. */
  readonly schedule?: (ms: number, callback: () => void) => () => void;
  /** Called with each change of any table, as `nft monitor` prints it, while there is a listener. */
  readonly onMonitored?: ((line: string) => void) | undefined;
  /** Called with the keys that were added, changed or removed, when that is done. */
  readonly onWritten?: ((keys: ReadonlySet<string>, desired: ReadonlyMap<string, NftItem>) => void) | undefined;
}

export interface NftablesBackend extends Backend<NftItem> {
  /** Reads the table and leaves it as it is. */
  difference(desired: ReadonlyMap<string, NftItem>, signal?: AbortSignal): Promise<readonly Difference[]>;
}

export const createNftables = (options: NftablesOptions): NftablesBackend => new Nftables(options);

/** nft names ten of what it refuses. So often it is asked again without them; then more is left out than was named. */
const MAX_ROUNDS = 30;

class Nftables implements NftablesBackend {
  readonly #nft: NftProgram;
  readonly #onWritten: NftablesOptions['onWritten'];
  readonly #monitor: Monitor;
  readonly #forms = new Map<string, string>();
  readonly #listeners = new Set<(change: OutsideChange) => void>();
  /** Keys of elements whose set no owner desires. */
  readonly #waiting = new Set<string>();
  /** What is there as far as known. */
  #actual: TableState | undefined;
  #isKnown = false;

  constructor(options: NftablesOptions) {
    this.#nft = new NftProgram(options);
    this.#onWritten = options.onWritten;
    this.#monitor = new Monitor(this.#nft, options.schedule, options.onMonitored);
  }

  async reconcile(request: ReconcileRequest<NftItem>, signal: AbortSignal): Promise<ReconcileOutcome> {
    try {
      return await this.#reconcile(request, signal);
    } catch (error) {
      this.#isKnown = false;
      throw toNftError(error);
    }
  }

  listen(listener: (change: OutsideChange) => void): () => void {
    this.#listeners.add(listener);
    const unlisten = this.#monitor.listen((cause) => {
      this.#isKnown = false;
      listener({ cause, keys: 'all' });
    });
    return () => {
      unlisten();
      this.#listeners.delete(listener);
    };
  }

  async difference(desired: ReadonlyMap<string, NftItem>, signal?: AbortSignal): Promise<readonly Difference[]> {
    try {
      const actual = await this.#nft.list(signal);
      const forms = new Map(this.#forms);
      return differencesOf(
        desired,
        actual,
        await this.#formsFor({ desired, keys: 'all', prune: true, forms, actual }, signal),
      );
    } catch (error) {
      throw toNftError(error);
    }
  }

  async close(): Promise<void> {
    await this.#monitor.close();
  }

  async #reconcile(
    { desired, keys, prune }: ReconcileRequest<NftItem>,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome> {
    const failed = problemsOf(desired, keys);
    const waiting = setsToCome(desired, keys);
    const bare = new Set<string>();
    if (keys === 'all' || !this.#isKnown) await this.#read(prune, signal);
    const written = new Set<string>();
    for (let isFresh = keys === 'all', round = 1; ; round++) {
      const skip = new Set([...failed.keys(), ...waiting.keys()]);
      const operations = await this.#plan({ desired, keys, prune, skip, bare }, signal);
      if (operations.length === 0) break;
      const refused = await this.#write(operations, signal);
      if (refused.size === 0) {
        for (const { key } of operations) written.add(key);
        break;
      }
      // What was planned on a picture that may be old is planned again on a new one before anything is called wrong.
      if (!isFresh) await this.#read(prune, signal);
      else refuse(failed, bare, refused);
      isFresh = true;
      if (round >= MAX_ROUNDS) leaveOut(failed, operations, refused);
    }
    this.#reportSets(desired, written, waiting);
    if (written.size > 0) this.#onWritten?.(written, desired);
    return { written: written.size, writtenKeys: written, failed, waiting };
  }

  /** Elements that waited for a set that is there now. */
  #reportSets(
    desired: ReadonlyMap<string, NftItem>,
    written: ReadonlySet<string>,
    waiting: ReadonlyMap<string, string>,
  ): void {
    for (const key of waiting.keys()) this.#waiting.add(key);
    const come = [...this.#waiting].filter((key) => {
      const item = desired.get(key);
      return item?.kind === 'element' && desired.has(`set ${item.element.set}`);
    });
    for (const key of come) this.#waiting.delete(key);
    const keys = new Set(come.filter((key) => !written.has(key)));
    if (keys.size > 0) for (const listener of [...this.#listeners]) listener({ cause: 'input', keys });
  }

  /** A table that cannot be read is recreated, in one transaction: without it everything would pass. */
  async #read(prune: boolean, signal: AbortSignal): Promise<void> {
    try {
      this.#actual = await this.#nft.list(signal);
    } catch (error) {
      if (!prune || !(error instanceof NftError) || error.code !== 'ERR_NFT_LISTING') throw error;
      this.#actual = unreadableTable();
    }
    this.#isKnown = true;
  }

  async #plan(input: Omit<PlanInput, 'actual' | 'forms'>, signal: AbortSignal): Promise<Operation[]> {
    const whole = { ...input, actual: this.#actual, forms: this.#forms };
    await this.#formsFor(whole, signal);
    return planOf(whole);
  }

  /** Asks how nft prints what it seems to print in other words than desired, once for each rule. */
  async #formsFor(
    { forms, ...input }: Omit<PlanInput, 'forms'> & { readonly forms: Map<string, string> },
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const actual = input.actual ?? emptyTable();
    const chains = chainsInOtherWords(findingsOf({ ...input, actual, forms }).values(), actual, forms);
    if (chains.length === 0) return forms;
    const { rules, make, remove } = formsScripts(chains, input.desired);
    const made = await this.#monitor
      .own(() => this.#nft.run(make, signal))
      .catch((error: unknown) => {
        // A rule that cannot be loaded is not there in other words either.
        if (refusedLines(error).length === 0) throw error;
      });
    if (made === undefined) return forms;
    await this.#monitor.own(() => this.#nft.run(remove));
    if (made.rules.length === rules.length)
      for (const [index, rule] of rules.entries()) forms.set(rule, made.rules[index] ?? rule);
    return forms;
  }

  /** @returns the keys that were refused, with the reasons; then nothing was written */
  async #write(operations: readonly Operation[], signal: AbortSignal): Promise<ReadonlyMap<string, Refusal>> {
    try {
      await this.#run(operations, signal);
      return new Map();
    } catch (error) {
      const refused = new Map<string, Refusal>();
      for (const { line, reason } of refusedLines(error)) {
        const operation = operationAt(operations, line);
        if (operation === undefined) continue;
        const onlyRules = operation.op === 'add-rule' && refused.get(operation.key)?.onlyRules !== false;
        refused.set(operation.key, { reason, onlyRules });
      }
      if (refused.size === 0) throw error;
      return refused;
    }
  }

  async #run(operations: readonly Operation[], signal: AbortSignal): Promise<void> {
    const { rules } = await this.#monitor.own(() => this.#nft.run(scriptOf(operations), signal));
    const added = operations.flatMap((operation) => (operation.op === 'add-rule' ? [operation.rule] : []));
    if (rules.length !== added.length) {
      this.#isKnown = false;
      return;
    }
    for (const [index, rule] of added.entries()) this.#forms.set(rule, rules[index] ?? rule);
    this.#actual = applyOperations(this.#actual, operations, rules);
  }
}

interface Refusal {
  readonly reason: string;
  /** Of a chain: not the chain itself. */
  readonly onlyRules: boolean;
}

/** @param bare chains of `failed` that may be made without rules; one that is refused so, too, leaves it */
const refuse = (failed: Map<string, string>, bare: Set<string>, refused: ReadonlyMap<string, Refusal>): void => {
  let isNew = false;
  for (const [key, { reason, onlyRules }] of refused) {
    isNew = !failed.has(key) || bare.delete(key) || isNew;
    if (onlyRules && !failed.has(key)) bare.add(key);
    failed.set(key, reason);
  }
  const [[key, { reason }] = ['', { reason: '' }]] = refused;
  if (!isNew) throw new NftError('ERR_NFT_FAILED', `${key} was rejected again: ${reason}`);
};

const LEFT_OUT = 'left out, because too much else was refused';

/** All elements of the sets of which some were refused: rules do not need them. If there are none, everything. */
const leaveOut = (
  failed: Map<string, string>,
  operations: readonly Operation[],
  refused: ReadonlyMap<string, Refusal>,
): void => {
  const added = operations.flatMap((one) => (one.op === 'add-element' ? [{ key: one.key, set: one.element.set }] : []));
  const sets = new Set(added.filter(({ key }) => refused.has(key)).map(({ set }) => set));
  for (const { key } of sets.size === 0 ? operations : added.filter(({ set }) => sets.has(set))) {
    if (!failed.has(key)) failed.set(key, LEFT_OUT);
  }
};

const problemsOf = (desired: ReadonlyMap<string, NftItem>, keys: ReadonlySet<string> | 'all'): Map<string, string> => {
  const problems = new Map<string, string>();
  for (const key of keys === 'all' ? desired.keys() : keys) {
    const item = desired.get(key);
    const problem = item && problemOf(item);
    if (problem !== undefined) problems.set(key, problem);
  }
  return problems;
};

/** Elements of sets that no owner desires yet. */
const setsToCome = (desired: ReadonlyMap<string, NftItem>, keys: ReadonlySet<string> | 'all'): Map<string, string> => {
  const waiting = new Map<string, string>();
  for (const key of keys === 'all' ? desired.keys() : keys) {
    const item = desired.get(key);
    if (item?.kind === 'element' && !desired.has(`set ${item.element.set}`))
      waiting.set(key, `the set ${item.element.set}`);
  }
  return waiting;
};
