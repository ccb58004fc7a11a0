import type { Command } from 'commander';
import { withClient } from '../objects/client.ts';
import { createObjects } from '../objects/objects.ts';
import { secondsOf } from './duration.ts';
import { type NameOption, sandboxCommand } from './options.ts';

interface WaitCommandOptions extends NameOption {
  readonly for: string;
  readonly timeout: string;
}

export const addWaitCommand = (program: Command): void => {
  sandboxCommand(program, 'wait <kind> <object>')
    .description('wait until an object ([NAMESPACE/]NAME) is ready, deleted, or has a condition')
    .requiredOption('--for <condition>', 'ready, deleted, condition=TYPE or condition=TYPE=STATUS')
    .option('--timeout <duration>', 'how long', '60s')
    .action(async (kind: string, object: string, { name, timeout, ...options }: WaitCommandOptions) => {
      const timeoutSeconds = secondsOf(timeout);
      await withClient(name, (client) => createObjects(client).wait(kind, object, options.for, { timeoutSeconds }));
    });
};
