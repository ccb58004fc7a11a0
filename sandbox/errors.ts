/** Stable codes of everything that the sandbox refuses or fails at. Listed in docs/errors.md. */
export type SandboxErrorCode =
  /** An option, a name or an argument that can't be used. */
  | 'ERR_SANDBOX_USAGE'
  /** A choice that is planned and not there yet. */
  | 'ERR_SANDBOX_NOT_YET'
  /** A sandbox of this name is up already. */
  | 'ERR_SANDBOX_EXISTS'
  /** No sandbox of this name is up. */
  | 'ERR_SANDBOX_DOWN'
  /** This machine lacks something: a right, a kernel feature, a built program. */
  | 'ERR_SANDBOX_MACHINE'
  /** A part did not become ready, or ended when it should not. */
  | 'ERR_SANDBOX_PART'
  /** A condition did not come true in time. */
  | 'ERR_SANDBOX_TIMEOUT'
  /** There is no such node, pod, program or kind. */
  | 'ERR_SANDBOX_NOT_FOUND';

export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export const hasSandboxCode = (error: unknown, code: SandboxErrorCode): error is SandboxError =>
  error instanceof SandboxError && error.code === code;

/** The message of anything that was thrown. */
/** True for the errors of node:fs and node:net that carry this code, for example `ENOENT`. */
export const hasSystemCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));
