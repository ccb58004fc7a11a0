/** Stable codes of what the demo gives up at. Listed in docs/errors.md. */
export type DemoErrorCode =
  /** An option that can't be used. */
  | 'ERR_DEMO_USAGE'
  /** Objects did not become ready. */
  | 'ERR_DEMO_NOT_READY'
  /** A pod is not where its manifest wants it to be. */
  | 'ERR_DEMO_UNINTENDED'
  /** Somebody wants it to end. */
  | 'ERR_DEMO_INTERRUPTED';

export class DemoError extends Error {
  override readonly name = 'DemoError';
  readonly code: DemoErrorCode;
  /** For people, a line each: what is known about it. */
  readonly details: readonly string[];

  constructor(code: DemoErrorCode, message: string, details: readonly string[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** What ends the demo from outside: it cleans up and then has this exit status. */
export class Interruption extends DemoError {
  readonly status: number;

  constructor(why: string, status: number) {
    super('ERR_DEMO_INTERRUPTED', why);
    this.status = status;
  }
}
