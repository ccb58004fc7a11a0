/** `udn-agent`: one per node. */
import { fileURLToPath } from 'node:url';
import { openConntrack } from '../datapath/conntrack/conntrack.ts';
import packageJson from '../package.json' with { type: 'json' };
import { openLog } from '../program/log.ts';
import { runProgram } from '../program/run.ts';
import { runAgent } from './agent.ts';
import { type CleanupEdges, cleanUpNode } from './cleanup/clean-up.ts';
import { agentHelp, type CleanupOptions, parseAgentCommand } from './options/options.ts';
import type { Backends } from './reconcile/node-datapath.ts';
import { openBackends } from './reconcile/open-backends.ts';
import { NAME } from './wiring/edges.ts';

const main = async (signal: AbortSignal): Promise<void> => {
  const command = parseAgentCommand(process.argv.slice(2), process.env);
  if (command.kind === 'help') process.stdout.write(agentHelp());
  else if (command.kind === 'version') process.stdout.write(`${NAME} ${packageJson.version}\n`);
  else {
    const { log, level } = openLog(NAME, command.options.logLevel);
    if (command.kind === 'cleanup') {
      await cleanUpNode({
        options: command.options,
        buildFolder: BUILD_FOLDER,
        log,
        signal,
        backends: backendsOf(command.options),
        conntrack: openConntrack(),
      });
      return;
    }
    log.info({ version: packageJson.version, node: command.options.node }, 'starting');
    await runAgent({ options: command.options, buildFolder: BUILD_FOLDER, log, level, signal });
  }
};

/** What `cleanup` empties beside the databases. */
const backendsOf =
  ({ statusSocket, cluster }: CleanupOptions) =>
  ({ databases, netlink }: CleanupEdges): Backends =>
    openBackends({
      netlink,
      replica: databases.openvswitch.replica,
      masqueradeSubnets: cluster.masqueradeSubnets,
      statusSocket,
    });

/** Beside the folder that this file, or its bundle, is in. */
const BUILD_FOLDER = fileURLToPath(new URL('../build', import.meta.url));

// Nothing waits for it: bundles of daemons are no modules (program/compiled.ts).
void runProgram(NAME, main);
