/** Where the programs of Open vSwitch are: on this machine's PATH, else in the Debian tree of the sandbox. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ensureTree, treeCommand } from '../../sandbox/tree/tree.ts';

const run = promisify(execFile);

/** Path of each program from the root of a Debian system. */
const PROGRAMS = {
  'ovsdb-server': 'usr/sbin/ovsdb-server',
  'ovsdb-tool': 'usr/bin/ovsdb-tool',
  'ovs-appctl': 'usr/bin/ovs-appctl',
  'ovs-ofctl': 'usr/bin/ovs-ofctl',
  'ovs-vsctl': 'usr/bin/ovs-vsctl',
  // What /usr/sbin has is a link with an absolute target.
  'ovs-vswitchd': 'usr/lib/openvswitch-switch/ovs-vswitchd',
} as const;

export type Program = keyof typeof PROGRAMS;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export const commandOf = async (program: Program): Promise<Command> => {
  if (isOnPath(program)) return { file: program, args: [] };
  return treeCommand(await ensureTree(() => {}), PROGRAMS[program]);
};

/** Runs a program to its end; the result is what it printed. */
export const runProgram = async (program: Program, args: readonly string[]): Promise<string> => {
  const command = await commandOf(program);
  const { stdout } = await run(command.file, [...command.args, ...args]);
  return stdout;
};

const isOnPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
