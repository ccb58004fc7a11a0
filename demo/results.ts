/** What the demo leaves in its folder. */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reachability } from '../sandbox/reachability/types.ts';
import type { NorthSouth } from './north-south.ts';

/** Of an earlier run. */
export const clearResults = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    ['reachability.json', 'north-south.json', 'flows.txt', 'log'].map((name) =>
      rm(join(folder, name), { recursive: true, force: true }),
    ),
  );
};

/** @returns the file's path */
export const writeReachability = async (folder: string, results: readonly Reachability[]): Promise<string> => {
  const path = join(folder, 'reachability.json');
  await writeFile(path, `[\n${results.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);
  return path;
};

export const writeNorthSouth = (folder: string, results: readonly NorthSouth[]): Promise<void> =>
  writeFile(join(folder, 'north-south.json'), `[\n${results.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);

/** The logs of a cluster that is about to go. @param state the cluster's own folder @returns where they are */
export const keepLogs = async (folder: string, state: string): Promise<string> => {
  const path = join(folder, 'log');
  await cp(join(state, 'log'), path, { recursive: true });
  return path;
};
