/** Runs a command in a container of a pod: the subresource `exec`. */
export interface PodExec {
  /**
   * Resolves with the command's exit status, when it has ended and all of its output was handed on.
   * @throws KubeError ERR_KUBE_STATUS when the server or the kubelet refuses, ERR_KUBE_NETWORK, ERR_KUBE_PROTOCOL; the
   *   signal's reason
   */
  run(command: ExecCommand, output: ExecOutput, signal?: AbortSignal): Promise<number>;
  close(): void;
}

export interface ExecCommand {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The program and its arguments: no shell sees them. */
  readonly command: readonly string[];
}

export interface ExecOutput {
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
}
