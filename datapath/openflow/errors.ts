/** Stable codes of what can go wrong with a bridge's flows. Listed in docs/errors.md. */
export type OpenflowErrorCode =
  /** A tool printed, or a bridge sent, something that is not understood. */
  | 'ERR_OPENFLOW_SYNTAX'
  /** The desired state cannot be a flow, a group or a bucket. */
  | 'ERR_OPENFLOW_INVALID'
  /** The bridge does not answer: it is not there, or ovs-vswitchd does not run. */
  | 'ERR_OPENFLOW_UNREACHABLE'
  /** The bridge rejected it. */
  | 'ERR_OPENFLOW_REFUSED';

export class OpenflowError extends Error {
  override readonly name = 'OpenflowError';
  readonly code: OpenflowErrorCode;

  constructor(code: OpenflowErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @param what what was read, for example `a flow`; the text is shown, cut */
export const syntaxError = (what: string, text: string): OpenflowError =>
  new OpenflowError('ERR_OPENFLOW_SYNTAX', `not ${what}: ${JSON.stringify(text.slice(0, 200))}`);

export const invalid = (message: string): OpenflowError => new OpenflowError('ERR_OPENFLOW_INVALID', message);
