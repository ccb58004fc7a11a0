/** `udnctl`: shows and explains what is programmed. */
import { type Command, CommanderError, Option } from 'commander';
import { stringify } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { ProgramCommand } from '../program/program-command.ts';
import { checkCommand } from './commands/check.ts';
import {
  clusterFromSettings,
  formatText,
  hasErrors,
  kubeletCgroupFromSettings,
  networkRenderingFromSettings,
  RENDER_SETTINGS,
  render,
} from './commands/render.ts';
import { CliError } from './errors.ts';
import { readManifestFiles } from './input/manifests.ts';
import { passedOver } from './input/passed-over.ts';
import { nodeCommands } from './node-commands.ts';

const program = (): Command => {
  const udnctl = new ProgramCommand('udnctl')
    .description('Shows and explains the user-defined networks of a node.')
    .version(`udnctl ${packageJson.version}`, '--version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  for (const command of [...nodeCommands(), renderCommand(), checkCommand()]) udnctl.addCommand(command.exitOverride());
  return udnctl;
};

const renderCommand = (): Command =>
  new ProgramCommand('render')
    .description('what a node would be programmed with, from manifests; nothing is asked or changed')
    .requiredOption('-f, --filename <path...>', 'files or folders with YAML or JSON, - for standard input')
    .requiredOption('--node <name>', 'the Node, which has to be in the input')
    .addOption(
      new Option(
        '--gateway-mode <mode>',
        'how pods leave the node, instead of what the nodes’ annotations say',
      ).choices(['shared', 'local']),
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
      const { objects, diagnostics: unread } = await readManifestFiles(options.filename);
      const diagnostics = [...unread, ...passedOver(objects)];
      const kubeletCgroup = kubeletCgroupFromSettings(options.set);
      const networkRendering = networkRenderingFromSettings(options.set);
      const { node, gatewayMode } = options;
      const result = render({ objects, diagnostics, node, cluster, gatewayMode, kubeletCgroup, networkRendering });
      process.stdout.write(formatRendered(result, options.output));
      if (hasErrors(result)) process.exitCode = 1;
    });

interface RenderOptions {
  readonly filename: readonly string[];
  readonly node: string;
  readonly gatewayMode?: 'shared' | 'local';
  readonly set: readonly string[];
  readonly output: 'json' | 'yaml' | 'text';
}

const formatRendered = (result: ReturnType<typeof render>, format: RenderOptions['output']): string => {
  if (format === 'text') return formatText(result);
  return format === 'json' ? `${JSON.stringify(result, undefined, 2)}\n` : stringify(result, { lineWidth: 0 });
};

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

// Who reads may stop before the end, as head(1) does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

/** As the other programs have it. */
const USAGE = 2;

try {
  await program().parseAsync(process.argv);
} catch (error) {
  // commander has said itself what is wrong with the command line.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  else {
    process.stderr.write(`udnctl: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof CliError ? error.exitStatus : 1;
  }
}
