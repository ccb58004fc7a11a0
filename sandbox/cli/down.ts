import type { Command } from 'commander';
import { takeDown } from '../supervisor/take-down.ts';
import { type NameOption, sandboxCommand } from './options.ts';

export const addDownCommand = (program: Command): void => {
  sandboxCommand(program, 'down')
    .description('end the cluster; leaves nothing behind')
    .action(({ name }: NameOption) => takeDown(name));
};
