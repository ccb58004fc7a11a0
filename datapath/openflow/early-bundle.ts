/** Sends a bridge the first steps of a bundle while the others are still being computed: both take as long. */
import { isSameFlow } from './plan.ts';
import type { BundleDraft, BundleOp } from './switch-client.ts';

export class EarlyBundle {
  readonly #draft: BundleDraft;
  readonly #reported: BundleOp[] = [];

  constructor(draft: BundleDraft) {
    this.#draft = draft;
  }

  append(ops: readonly BundleOp[]): void {
    if (ops.length === 0) return;
    for (const op of ops) this.#reported.push(op);
    this.#draft.push(ops);
  }

  /** The steps sent were a guess. False: none of it is done, and everything has to be sent again. */
  isBeginningOf(ops: readonly BundleOp[]): boolean {
    const reported = this.#reported;
    const isRight = reported.length > 0 && reported.every((op, index) => isSameStep(op, ops[index]));
    if (!isRight) this.drop();
    return isRight;
  }

  /** @param ops all of them. @throws as `SwitchClient.bundle` does */
  commit(ops: readonly BundleOp[]): Promise<void> {
    this.#draft.push(ops.slice(this.#reported.length));
    return this.#draft.commit();
  }

  drop(): void {
    this.#draft.drop();
  }
}

/** Only additions of flows are sent early. */
const isSameStep = (a: BundleOp, b: BundleOp | undefined): boolean =>
  a.op === 'addFlow' && b?.op === 'addFlow' && a.flow.identity === b.flow.identity && isSameFlow(a.flow, b.flow);
