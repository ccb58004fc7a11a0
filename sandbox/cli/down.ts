import type { Command } from 'commander';
import { messageOf } from '../../base/error-message.ts';
import { hasSandboxCode } from '../errors.ts';
import { takeDown } from '../supervisor/take-down.ts';
import { type NameOption, sandboxCommand } from './options.ts';

export const addDownCommand = (program: Command): void => {
  sandboxCommand(program, 'down')
    .description('end the cluster; leaves nothing behind')
    .action(({ name }: NameOption) => takeDown(name).catch(sayIfDown));
};

/** For scripts that clean up whatever they have come to: what they want is so. */
const sayIfDown = (error: unknown): void => {
  if (!hasSandboxCode(error, 'ERR_SANDBOX_DOWN')) throw error;
  process.stderr.write(`${messageOf(error)}\n`);
};
