/** A node with OVS and OVN, without an agent, an API server or pods. */
import { join } from 'node:path';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { type KillableName, type RunOptions, type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { NODE } from './bench-node.ts';

export interface OvnNode extends AsyncDisposable {
  /** The command line, of this machine, that runs a command on the node. */
  enter(argv: readonly string[]): [file: string, args: string[]];
  /** Runs a command on the node; @returns what it printed */
  run(argv: readonly string[], options?: Pick<RunOptions, 'input' | 'timeoutMs'>): Promise<string>;
  /** Where a file of the node is seen from here. */
  pathOf(path: string): string;
  /** Of a program of the node, as this machine sees it. */
  pidOf(program: KillableName): Promise<number>;
  /** Ends the program as a crash does; another one is started at once. */
  crash(program: KillableName): Promise<void>;
  /** The program stands still from now on. */
  hold(program: KillableName): Promise<void>;
}

export const startOvnNode = async (name: string, signal: AbortSignal): Promise<OvnNode> => {
  signal.throwIfAborted();
  const sandbox = await startSandbox({ name, nodes: 1, programs: 'none' });
  const down = (): void => void sandbox.down();
  signal.addEventListener('abort', down, { once: true });
  const { nodes } = await sandbox.status();
  const pid = nodes[0]?.pid;
  return {
    enter: (argv) => [findArtifacts().toolbox, ['enter', '--target', String(pid), '--', ...argv]],
    run: async (argv, options) => (await sandbox.node(NODE, argv, options)).stdout,
    pathOf: (path) => join(`/proc/${pid}/root`, path),
    pidOf: (program) => pidOf(sandbox, program),
    crash: (program) => sandbox.kill(NODE, program, 'SIGKILL'),
    hold: (program) => sandbox.kill(NODE, program, 'SIGSTOP'),
    [Symbol.asyncDispose]: async () => {
      signal.removeEventListener('abort', down);
      const namespaces = await namespacesOf(sandbox.name);
      await sandbox.down();
      await untilNothingIsLeft(sandbox.name, namespaces);
    },
  };
};

const pidOf = async (sandbox: Sandbox, program: KillableName): Promise<number> => {
  const { nodes } = await sandbox.status();
  const pid = nodes[0]?.services.find((service) => service.name === program)?.pid;
  if (pid === undefined) throw new Error(`${program} does not run`);
  return pid;
};
