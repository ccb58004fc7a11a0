/** A command line that can't be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'ERR_USAGE';
}
