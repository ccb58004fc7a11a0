/** `exec`, `node` and `outside`: commands inside of the cluster's machines, with this process' stdin, stdout and stderr. */
import type { Command } from 'commander';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { inGuest } from '../guest/guest.ts';
import type { CommandLine } from '../machine/types.ts';
import { connectControl } from '../supervisor/control-client.ts';
import type { Target } from '../supervisor/types.ts';
import { runInForeground } from './foreground.ts';
import { type NameOption, sandboxCommand } from './options.ts';

export const addEnterCommands = (program: Command, onStatus: (status: number) => void): void => {
  const enter = async (name: string, target: Target, argv: readonly string[]): Promise<void> => {
    onStatus(
      await runInForeground(
        await connectControl(name).enter(target, withoutDashes(argv), { env: terminalEnvironment() }),
      ),
    );
  };
  sandboxCommand(program, 'exec <pod> <command...>')
    .description('run a command in a pod (NAMESPACE/NAME)')
    .option('-c, --container <name>', 'default: the first')
    .passThroughOptions()
    .action((pod: string, argv: string[], { name, container }: NameOption & { readonly container?: string }) =>
      enter(name, { kind: 'pod', ...parsePod(pod), container }, argv),
    );
  sandboxCommand(program, 'node <node> <command...>')
    .description("run a command on a node: ip, nft, ovs-vsctl, ovn-nbctl, udnctl talk to that node's")
    .passThroughOptions()
    .action((node: string, argv: string[], { name }: NameOption) => enter(name, { kind: 'node', node }, argv));
  sandboxCommand(program, 'outside <command...>')
    .description('run a command on a host of the node network that is not of the cluster')
    .passThroughOptions()
    .action((argv: string[], { name }: NameOption) => enter(name, { kind: 'outside' }, argv));
  sandboxCommand(program, 'guest <command...>')
    .description('run a command in the guest that the cluster is in (up --kernel guest)')
    .passThroughOptions()
    .action(async (argv: string[], { name }: NameOption) => {
      onStatus(await runInForeground(await guestCommand(name, withoutDashes(argv))));
    });
};

const guestCommand = async (name: string, argv: readonly string[]): Promise<CommandLine> => {
  const { guest } = await connectControl(name).status();
  if (guest !== undefined) return inGuest(findArtifacts().toolbox, guest, argv, terminalEnvironment());
  throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `the sandbox "${name}" is in no guest`);
};

/** Commander hands `--` through when the options after it belong to the command. */
const withoutDashes = (argv: readonly string[]): readonly string[] => (argv[0] === '--' ? argv.slice(1) : argv);

const parsePod = (text: string): { namespace: string; pod: string } => {
  const [, namespace, pod] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (namespace === undefined || pod === undefined) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `"${text}" is not NAMESPACE/POD`);
  }
  return { namespace, pod };
};

const terminalEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['TERM', 'LANG', 'COLUMNS', 'LINES'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
