/** What the demo leaves in its folder. */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reachability } from '../test/oracles/reachability/types.ts';
import type { Reached } from './attachments.ts';
import type { NorthSouth } from './north-south.ts';
import type { ServiceAnswers } from './services.ts';

/** Of an earlier run. */
export const clearResults = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    [
      'reachability.json',
      'north-south.json',
      'services.json',
      'policy.json',
      'attachments.json',
      'flows.txt',
      'log',
    ].map((name) => rm(join(folder, name), { recursive: true, force: true })),
  );
};

/** @returns the file's path */
export const writeReachability = async (folder: string, results: readonly Reachability[]): Promise<string> => {
  const path = join(folder, 'reachability.json');
  await writeLines(path, results);
  return path;
};

export const writeNorthSouth = (folder: string, results: readonly NorthSouth[]): Promise<void> =>
  writeLines(join(folder, 'north-south.json'), results);

export const writeServices = (folder: string, results: readonly ServiceAnswers[]): Promise<void> =>
  writeLines(join(folder, 'services.json'), results);

export const writePolicy = (folder: string, results: readonly Reachability[]): Promise<void> =>
  writeLines(join(folder, 'policy.json'), results);

export const writeAttachments = (folder: string, results: readonly Reached[]): Promise<void> =>
  writeLines(join(folder, 'attachments.json'), results);

/** JSON, an object a line. */
const writeLines = (path: string, results: readonly object[]): Promise<void> =>
  writeFile(path, `[\n${results.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);

/** The logs of a cluster that is about to go. @param state the cluster's own folder @returns where they are */
export const keepLogs = async (folder: string, state: string): Promise<string> => {
  const path = join(folder, 'log');
  await cp(join(state, 'log'), path, { recursive: true });
  return path;
};
