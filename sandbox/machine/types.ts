/** A command line of the machine that the supervisor runs on. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
}

export interface EnterOptions {
  /** Below the machine's own cgroup, for example `kubelet.slice/kubelet.service`. Default: the caller's. */
  readonly cgroup?: string;
  /** All that the command's environment has beside PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** The file descriptor that gets the command's pid, as this machine sees it, and a newline. */
  readonly reportPid?: number;
}

/**
 * A node, the host outside the cluster, the underlay, or where an emulator runs: a place where programs run.
 */
export interface Machine {
  readonly name: string;
  /** The first process, as this machine sees it. */
  readonly pid: number;
  /** What runs `argv` there. The command ends when its machine does, and when the process of this command line is killed. */
  enter(argv: readonly string[], options?: EnterOptions): CommandLine;
  /** Where a file of there is seen from here. */
  pathOf(path: string): string;
  /** Resolves with what happened when the machine is gone. */
  readonly ended: Promise<string>;
}
