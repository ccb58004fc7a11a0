import type { KernelFeatures } from '../machine/features.ts';
import type { CommandLine, EnterOptions } from '../machine/types.ts';
import type { Datapath } from '../plan/bridge.ts';
import type { KillableName } from '../plan/daemons.ts';
import type { ServiceStatus } from '../process/service.ts';

export interface NodeStatus {
  readonly name: string;
  /** With prefix lengths. */
  readonly addresses: readonly string[];
  /** The first process, as this machine sees it; undefined while the node is being made. */
  readonly pid: number | undefined;
  readonly services: readonly ServiceStatus[];
}

/** The guest kernel that the cluster is in. */
export interface GuestStatus {
  /** Whether the processor runs it, or QEMU translates it. */
  readonly accelerator: 'kvm' | 'uml' | 'tcg';
  /** Where it takes commands, `toolbox guest-run`. */
  readonly socket: string;
  /** About how many times longer things take in there: for deadlines. */
  readonly slowdown: number;
}

export interface SandboxStatus {
  readonly name: string;
  readonly state: 'starting' | 'up' | 'failed';
  readonly version: string;
  readonly ipFamily: string;
  readonly gatewayMode: string;
  readonly datapath: Datapath;
  readonly kernel: KernelFeatures;
  /** Undefined on this machine's own kernel. In a guest, the pids and the logs are the guest's. */
  readonly guest: GuestStatus | undefined;
  /** For kubectl on this machine; undefined without an API server. */
  readonly kubeconfig: string | undefined;
  readonly folder: string;
  /** The host outside the cluster. */
  readonly outside: readonly string[];
  readonly nodes: readonly NodeStatus[];
  /** What runs once for all nodes. */
  readonly services: readonly ServiceStatus[];
}

/** Where a command is to run. */
export type Target =
  | { readonly kind: 'node'; readonly node: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'pod'; readonly namespace: string; readonly pod: string; readonly container?: string | undefined };

/** The supervisor, in this process or behind its socket. */
export interface Control {
  readonly name: string;
  status(): Promise<SandboxStatus>;
  /** What runs `argv` there, on this machine. @throws SandboxError ERR_SANDBOX_NOT_FOUND */
  enter(target: Target, argv: readonly string[], options?: Pick<EnterOptions, 'env' | 'workdir'>): Promise<CommandLine>;
  /** @throws SandboxError ERR_SANDBOX_NOT_FOUND when there is no such node or program, or it does not run right now */
  kill(node: string, program: KillableName, signal: NodeJS.Signals | number): Promise<void>;
  /**
   * As after a power cut: everything that ran on the node is gone, also its pods, and what the kernel and the databases of
   * OVS and OVN had; files are there. Resolves when its programs have been started again.
   */
  reboot(node: string): Promise<void>;
  /** Resolves when nothing is left. */
  down(): Promise<void>;
}
