/** What a backend has said of keys that are not as they are desired. */
import type { State, Status } from '../../base/reconciler.ts';
import type { ReconcileOutcome } from '../../datapath/backend.ts';

/** What a backend says of a key. */
type Verdict = Extract<State, 'failed' | 'waiting' | 'unsupported'>;

interface KeyProblem extends Status {
  readonly kind: Verdict;
}

const NONE: ReadonlyMap<string, string> = new Map();

export class KeyProblems {
  /** How many keys have which problem. Where there is no VRF, these are thousands. */
  readonly counts: Record<Verdict, number> = { failed: 0, waiting: 0, unsupported: 0 };
  readonly #problems = new Map<string, KeyProblem>();

  get size(): number {
    return this.#problems.size;
  }

  get(key: string): KeyProblem | undefined {
    return this.#problems.get(key);
  }

  keys(): Iterable<string> {
    return this.#problems.keys();
  }

  /** @returns the keys with which something else is the matter now */
  remember(
    keys: ReadonlySet<string> | 'all',
    { failed, waiting, unsupported = NONE }: ReconcileOutcome,
  ): ReadonlySet<string> {
    // Of the keys that were looked at alone: where there is no VRF, thousands of others may be impossible.
    const before = new Map<string, KeyProblem>();
    for (const key of keys === 'all' ? [...this.#problems.keys()] : keys) {
      const problem = this.#problems.get(key);
      if (problem === undefined) continue;
      before.set(key, problem);
      this.#forget(key, problem);
    }
    const outcomes = [
      ['waiting', waiting] as const,
      ['unsupported', unsupported] as const,
      ['failed', failed] as const,
    ];
    for (const [kind, messages] of outcomes) {
      for (const [key, message] of messages) this.#set(key, { kind, message });
    }
    const looked = keys === 'all' ? new Set([...before.keys(), ...this.#problems.keys()]) : keys;
    return new Set([...looked].filter((key) => !isSame(before.get(key), this.#problems.get(key))));
  }

  #set(key: string, problem: KeyProblem): void {
    const before = this.#problems.get(key);
    if (before !== undefined) this.#forget(key, before);
    this.#problems.set(key, problem);
    this.counts[problem.kind]++;
  }

  #forget(key: string, { kind }: KeyProblem): void {
    this.#problems.delete(key);
    this.counts[kind]--;
  }
}

const isSame = (a: Status | undefined, b: Status | undefined): boolean =>
  a?.kind === b?.kind && a?.message === b?.message;
