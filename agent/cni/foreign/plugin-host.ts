/** Where plugins of other networks run: on the host, as children of the shim that has called (cni-shim/README.md). */

export interface PluginCall {
  /** Name of the program, which is looked for in CNI_PATH. */
  readonly type: string;
  /** `CNI_…` variables; CNI_PATH is the runtime's. */
  readonly env: Readonly<Record<string, string>>;
  /** JSON. */
  readonly stdin: string;
}

export interface PluginOutcome {
  readonly how: (typeof ENDINGS)[number];
  /** Exit status, signal or errno. */
  readonly number: number;
  readonly stdout: string;
}

/**
 * `exit`: it has ended by itself; `signal`: somebody killed it; `absent`: there is no such program; `late`, `long`: it was killed, as it took
 * too much time or wrote too much; `refused`: the shim does not take the call; `failed`: it could not be started.
 */
export const ENDINGS = ['exit', 'signal', 'absent', 'refused', 'late', 'long', 'failed'] as const;

export interface PluginHost {
  /**
   * One at a time. An abort does not end a plugin that runs.
   * @throws CniError when the shim is gone, or runs no plugins
   */
  run(call: PluginCall): Promise<PluginOutcome>;
}
