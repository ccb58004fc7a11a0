/** Tells a bridge the first steps of a bundle while the others are still being found out: both take as long. */
import { isSameFlow } from './plan.ts';
import type { BundleDraft, BundleOp } from './switch-client.ts';

export class EarlyBundle {
  readonly #draft: BundleDraft;
  readonly #told: BundleOp[] = [];

  constructor(draft: BundleDraft) {
    this.#draft = draft;
  }

  tell(ops: readonly BundleOp[]): void {
    if (ops.length === 0) return;
    for (const op of ops) this.#told.push(op);
    this.#draft.push(ops);
  }

  /** What was told was a guess. False: nothing of it is done, and all has to be told anew. */
  isBeginningOf(ops: readonly BundleOp[]): boolean {
    const told = this.#told;
    const isRight = told.length > 0 && told.every((op, index) => isSameStep(op, ops[index]));
    if (!isRight) this.drop();
    return isRight;
  }

  /** @param ops all of them. @throws as `SwitchClient.bundle` does */
  commit(ops: readonly BundleOp[]): Promise<void> {
    this.#draft.push(ops.slice(this.#told.length));
    return this.#draft.commit();
  }

  drop(): void {
    this.#draft.drop();
  }
}

/** Only additions of flows are told early. */
const isSameStep = (a: BundleOp, b: BundleOp | undefined): boolean =>
  a.op === 'addFlow' && b?.op === 'addFlow' && a.flow.identity === b.flow.identity && isSameFlow(a.flow, b.flow);
