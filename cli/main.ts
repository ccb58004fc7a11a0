/** `udnctl`: shows and explains what is programmed. */
import { type Command, CommanderError, Option } from 'commander';
import { stringify } from 'yaml';
import { createCommandRunner } from '../datapath/exec/execa-runner.ts';
import packageJson from '../package.json' with { type: 'json' };
import { ProgramCommand } from '../program/program-command.ts';
import { listFlows } from './commands/flows.ts';
import { listNetworks } from './commands/networks.ts';
import { listPods } from './commands/pods.ts';
import { listProblems } from './commands/problems.ts';
import { clusterFromSettings, formatText, hasErrors, RENDER_SETTINGS, render } from './commands/render.ts';
import { readManifestFiles } from './input/manifests.ts';
import { connectAgent, DEFAULT_AGENT_SOCKET } from './node/agent-client.ts';
import { withDatabase } from './node/database.ts';
import { formatOutput, OUTPUT_FORMATS, type Output, type OutputFormat } from './output/format.ts';

interface NodeOptions {
  readonly output: OutputFormat;
  readonly agentSocket: string;
}

const program = (): Command => {
  const udnctl = new ProgramCommand('udnctl')
    .description('Shows and explains the user-defined networks of a node.')
    .version(`udnctl ${packageJson.version}`, '--version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  udnctl.addCommand(networksCommand());
  udnctl.addCommand(podsCommand());
  udnctl.addCommand(problemsCommand());
  udnctl.addCommand(flowsCommand());
  udnctl.addCommand(renderCommand());
  return udnctl;
};

/** A command that asks the node's agent. */
const nodeCommand = (name: string, description: string): Command =>
  new ProgramCommand(name)
    .description(description)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(OUTPUT_FORMATS).default('table'))
    .addOption(
      new Option('--agent-socket <path>', "the agent's status socket")
        .env('UDN_STATUS_SOCKET')
        .default(DEFAULT_AGENT_SOCKET),
    );

const networksCommand = (): Command =>
  nodeCommand('networks', 'the networks that this node knows').action(async (options: NodeOptions) =>
    print(await listNetworks(connectAgent(options.agentSocket)), options.output),
  );

const podsCommand = (): Command =>
  nodeCommand('pods', 'the pods of this node and their addresses on every network')
    .option('-n, --namespace <name>', 'only of this namespace')
    .option('--network <network>', 'only of this network, by its name or the key of a NAD')
    .action(async (options: NodeOptions & { namespace?: string; network?: string }) =>
      print(await listPods(connectAgent(options.agentSocket), options), options.output),
    );

const problemsCommand = (): Command =>
  nodeCommand('problems', 'what cannot be programmed or read, and why').action(async (options: NodeOptions) =>
    print(await listProblems(connectAgent(options.agentSocket)), options.output),
  );

const flowsCommand = (): Command =>
  nodeCommand('flows', 'the flows of br-int that belong to a network')
    .requiredOption('--network <network>', 'its name, the key of a NAD (namespace/name), or the name of its CUDN')
    .option('--summary', 'only how many there are', false)
    .addOption(
      new Option('--nb-remote <remote>', 'northbound database')
        .env('UDN_NB_REMOTE')
        .default('unix:/run/ovn/ovnnb_db.sock'),
    )
    .addOption(
      new Option('--sb-remote <remote>', 'southbound database')
        .env('UDN_SB_REMOTE')
        .default('unix:/run/ovn/ovnsb_db.sock'),
    )
    .action(async (options: FlowsOptions) => print(await flows(options), options.output));

interface FlowsOptions extends NodeOptions {
  readonly network: string;
  readonly summary: boolean;
  readonly nbRemote: string;
  readonly sbRemote: string;
}

const flows = (options: FlowsOptions): Promise<Output> =>
  withDatabase('OVN_Northbound', options.nbRemote, (northbound) =>
    withDatabase('OVN_Southbound', options.sbRemote, (southbound) =>
      listFlows(
        { agent: connectAgent(options.agentSocket), northbound, southbound, runner: createCommandRunner() },
        options,
      ),
    ),
  );

const renderCommand = (): Command =>
  new ProgramCommand('render')
    .description('what a node would be programmed with, from manifests; nothing is asked or changed')
    .requiredOption('-f, --filename <path...>', 'files or folders with YAML or JSON, - for standard input')
    .requiredOption('--node <name>', 'the Node, which has to be in the input')
    .addOption(
      new Option('--gateway-mode <mode>', 'how pods leave the node').choices(['shared', 'local']).default('shared'),
    )
    .option(
      '--set <setting=value...>',
      `settings of the cluster: ${RENDER_SETTINGS.join(', ')}; for example clusterSubnets=10.128.0.0/14/23`,
      collect,
      [],
    )
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(['json', 'yaml', 'text']).default('json'))
    .action(async (options: RenderOptions) => {
      const cluster = clusterFromSettings(options.set);
      const { objects, diagnostics } = await readManifestFiles(options.filename);
      const result = render({ objects, diagnostics, node: options.node, cluster });
      process.stdout.write(formatRendered(result, options.output));
      if (hasErrors(result)) process.exitCode = 1;
    });

interface RenderOptions {
  readonly filename: readonly string[];
  readonly node: string;
  readonly set: readonly string[];
  readonly output: 'json' | 'yaml' | 'text';
}

const formatRendered = (result: ReturnType<typeof render>, format: RenderOptions['output']): string => {
  if (format === 'text') return formatText(result);
  return format === 'json' ? `${JSON.stringify(result, undefined, 2)}\n` : stringify(result, { lineWidth: 0 });
};

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const print = (output: Output, format: OutputFormat): void => {
  process.stdout.write(formatOutput(output, format));
};

// Who reads may stop before the end, as head(1) does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  await program().parseAsync(process.argv);
} catch (error) {
  // commander has said itself what is wrong with the command line.
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`udnctl: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
