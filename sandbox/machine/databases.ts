/** Empty OVSDB files, made once and copied into every node. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASES } from '../plan/daemons.ts';
import { run } from '../process/run.ts';
import { treeCommand } from '../tree/tree.ts';
import type { Machine } from './types.ts';

export const makeDatabases = async (tree: string, folder: string): Promise<void> => {
  await Promise.all(
    DATABASES.map(async ({ name, schema }) => {
      const { file, args } = treeCommand(tree, 'usr/bin/ovsdb-tool');
      await run({ file, args: [...args, 'create', join(folder, name), join(tree, schema)] });
    }),
  );
};

export const installDatabases = async (folder: string, node: Machine): Promise<void> => {
  await Promise.all(DATABASES.map(({ name, path }) => copyFile(join(folder, name), node.pathOf(path))));
};
