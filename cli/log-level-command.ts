/** `udnctl log-level`: its options. */
import { Argument, type Command } from 'commander';
import { LOG_LEVELS, type LogLevelChange } from '../api/agent-status.ts';
import { type LogLevelOptions, logLevel } from './commands/log-level.ts';
import { connectAgent } from './node/agent-client.ts';
import { type TextOptions, textCommand } from './node/node-command.ts';
import { formatTextOutput } from './output/format.ts';
import { nodeAction } from './remote/node-action.ts';

export const logLevelCommand = (): Command =>
  nodeAction(
    textCommand('log-level', "show or set the level of the running agent's log")
      .addArgument(new Argument('[level]', 'set this level, without a restart').choices(LOG_LEVELS))
      .option('--for <duration>', 'then return to the configured level; for example 10m (default: at a restart)'),
    {
      here: async (level: LogLevelChange['level'] | undefined, options: TextOptions & LogLevelOptions) => {
        const output = await logLevel(connectAgent(options.agentSocket), level, options);
        process.stdout.write(formatTextOutput(output, options.output));
      },
    },
  );
