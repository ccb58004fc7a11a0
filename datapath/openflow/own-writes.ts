/**
 * Distinguishes our own writes from those of others in the output of the flow monitor. A bridge reports changes in the
 * order in which it made them, so the events of a flow are: what others did before our write, our write, what others did
 * after it.
 */
import { isSameFlow } from './plan.ts';
import type { BundleOp } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';

/** Undefined: deleted. */
type Expected = FlowState | undefined;

export class OwnWrites {
  readonly #expected = new Map<string, Expected[]>();
  /** Of these, what was there before the last but one reading: their events got lost, or never were. */
  #old = new Map<string, Expected[]>();

  /** To be called before the write. */
  expect(ops: readonly BundleOp[]): void {
    for (const op of ops) {
      if (op.op === 'addFlow') this.#push(op.flow.identity, op.flow);
      if (op.op === 'deleteFlow') this.#push(op.identity, undefined);
    }
  }

  /** The write was refused. */
  forget(ops: readonly BundleOp[]): void {
    for (const op of ops) {
      const identity = op.op === 'addFlow' ? op.flow.identity : op.op === 'deleteFlow' ? op.identity : undefined;
      if (identity === undefined) continue;
      const expected = this.#expected.get(identity);
      expected?.pop();
      if (expected?.length === 0) this.#expected.delete(identity);
    }
  }

  isExpecting(identity: string): boolean {
    return this.#expected.has(identity);
  }

  /**
   * `own`: the last write of ours that was expected. `before`: somebody's or ours, and a write of ours comes after it.
   * `foreign`: somebody else's, and nothing of ours comes after it.
   */
  classify(identity: string, state: FlowState | undefined): 'own' | 'before' | 'foreign' {
    const expected = this.#expected.get(identity);
    if (expected === undefined) return 'foreign';
    if (!isSameFlow(expected[0], state)) return 'before';
    expected.shift();
    if (expected.length > 0) return 'before';
    this.#expected.delete(identity);
    return 'own';
  }

  /** Everything is read again; what has been expected since before the last time will not come. */
  onRead(): void {
    for (const [identity, expected] of this.#old) {
      if (this.#expected.get(identity) === expected) this.#expected.delete(identity);
    }
    this.#old = new Map(this.#expected);
  }

  clear(): void {
    this.#expected.clear();
    this.#old.clear();
  }

  #push(identity: string, state: Expected): void {
    // A new list, so that `onRead` sees that there was another write.
    const before = this.#expected.get(identity);
    this.#expected.set(identity, before === undefined ? [state] : [...before, state]);
  }
}
