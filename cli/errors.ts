/** Something that the user has to hear about; the message is a sentence. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code = 'ERR_CLI';
}
