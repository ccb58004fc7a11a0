/** Shows what a node knows of the networks, with the commands that a user would type. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../sandbox/index.ts';
import { shownPath } from './options.ts';
import type { Terminal } from './terminal.ts';

export interface ShownNode {
  readonly node: string;
  /** `namespace/name` of a UserDefinedNetwork; undefined when there is none. */
  readonly network: string | undefined;
  /** Gets what is too long for the terminal. */
  readonly folder: string;
}

const SHOWN_LINES = 16;
const SHOWN_COLUMNS = 160;

export const showNode = async (
  sandbox: Pick<Sandbox, 'node'>,
  { node, network, folder }: ShownNode,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> => {
  const run = async (...args: string[]): Promise<string> => {
    terminal.block(terminal.paint('strong', `\n$ udnctl ${args.join(' ')}`));
    return (await sandbox.node(node, ['udnctl', ...args], { signal })).stdout.trimEnd();
  };
  terminal.block(await run('networks'));
  terminal.block(await run('pods'));
  if (network === undefined) return;
  const flows = await run('flows', '--network', network);
  const path = join(folder, 'flows.txt');
  await writeFile(path, `${flows}\n`);
  terminal.block(excerpt(flows, terminal, path));
};

const excerpt = (text: string, { paint }: Terminal, path: string): string => {
  const lines = text.split('\n');
  const shown = lines.slice(0, SHOWN_LINES).map((line) => line.slice(0, SHOWN_COLUMNS).trimEnd());
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [paint('dim', `… ${more} more lines in ${shownPath(path)}`)] : [])].join('\n');
};
