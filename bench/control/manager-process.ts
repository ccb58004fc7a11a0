/** The cluster manager: the program of `make build`, as `daemonset/` runs it, with a Lease and metrics. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DAEMON_OPTIONS } from '../../program/daemon-options.ts';
import { CLUSTER_MANAGER_ACCOUNT, PROJECT_NAMESPACE } from '../../sandbox/api/kube/identities.ts';
import { findArtifacts } from '../../sandbox/artifacts.ts';

/** What the program logs. */
export const RECOVERED = 'recovered allocations';
export const CAUGHT_UP = 'synced with the API server';

export class ManagerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #startedAt = performance.now();
  /** Message → milliseconds after the start. */
  readonly #logged = new Map<string, number>();
  readonly #ended: Promise<unknown>;
  readonly #problems: string[] = [];
  #waiting: (() => void) | undefined;
  #isOver = false;

  constructor(kubeconfig: string, nodeOptions: readonly string[] = []) {
    const { node, dist } = findArtifacts();
    const lease = `${PROJECT_NAMESPACE}/${CLUSTER_MANAGER_ACCOUNT}`;
    const flags = ['--kubeconfig', kubeconfig, '--lease', lease, '--metrics-address', '127.0.0.1:0'];
    this.#child = spawn(node, [...DAEMON_OPTIONS, ...nodeOptions, join(dist, 'udn-cluster-manager.mjs'), ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#ended = once(this.#child, 'close').then(() => this.#end());
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#read(line));
    }
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the cluster manager was not started');
    return this.#child.pid;
  }

  /** Lines of the level `warn` and above. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** @returns milliseconds from its start until it has logged the message @throws Error when it ends instead */
  async whenLogged(message: string): Promise<number> {
    for (;;) {
      const at = this.#logged.get(message);
      if (at !== undefined) return at;
      if (this.#isOver) throw new Error(`the cluster manager ended: ${this.#problems.slice(-3).join('\n')}`);
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  #read(line: string): void {
    const entry = JSON.parse(line) as { readonly level: number; readonly msg: string };
    if (entry.level >= WARN) this.#problems.push(line);
    if (!this.#logged.has(entry.msg)) this.#logged.set(entry.msg, performance.now() - this.#startedAt);
    this.#waiting?.();
  }

  #end(): void {
    this.#isOver = true;
    this.#waiting?.();
  }

  /** Hands its Lease over. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) this.#child.kill('SIGTERM');
    await this.#ended;
  }
}

/** Of pino. */
const WARN = 40;
