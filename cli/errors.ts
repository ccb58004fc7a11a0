/** An error for the user; its message is a whole message. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code = 'ERR_CLI';
  /** Of udnctl: 2 is for what is wrong with the command line, and for commands where 1 is a finding, such as `diff`. */
  readonly exitStatus: 1 | 2;

  constructor(message: string, exitStatus: 1 | 2 = 1) {
    super(message);
    this.exitStatus = exitStatus;
  }
}

/** The API server answers, and the kubelet of the node does not answer the API server. */
export class UnreachableNodeError extends CliError {
  constructor(message: string) {
    super(message, 2);
  }
}
