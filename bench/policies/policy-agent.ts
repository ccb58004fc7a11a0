/** `agent-process.ts`, as the benchmarks talk to it. */
import { join } from 'node:path';
import type { KubeObject } from '../../kube/types.ts';
import { formatRemote, type Remote } from '../../ovsdb/index.ts';
import { LineProcess } from '../line-process.ts';
import { writePages } from '../render/object-pages.ts';
import type { Change, Done } from './agent-process.ts';

export interface PolicyAgent extends AsyncDisposable {
  readonly started: Done;
  /** Resolves when the database has it. */
  change(change: Change): Promise<Done>;
}

export interface PolicyAgentSpec {
  /** A file of pages of objects. */
  readonly objects: string;
  readonly remote: Remote;
  /** Where what is sent goes; then the agent ends with its start. */
  readonly recording?: string;
}

export const startPolicyAgent = async ({ objects, remote, recording }: PolicyAgentSpec): Promise<PolicyAgent> => {
  const args = [objects, formatRemote(remote), ...(recording === undefined ? [] : [recording])];
  const process_ = new LineProcess('policy agent', process.execPath, ['--expose-gc', PROGRAM, ...args]);
  const done = async (): Promise<Done> => JSON.parse(await process_.line()) as Done;
  try {
    return {
      started: await done(),
      change: (change) => {
        process_.write(`${JSON.stringify(change)}\n`);
        return done();
      },
      [Symbol.asyncDispose]: () => process_[Symbol.asyncDispose](),
    };
  } catch (error) {
    await process_[Symbol.asyncDispose]();
    throw error;
  }
};

const PROGRAM = join(import.meta.dirname, 'agent-process.ts');

export const writeObjects = async (folder: string, name: string, objects: readonly KubeObject[]): Promise<string> => {
  const path = join(folder, `${name}.jsonl`);
  await writePages(path, objects);
  return path;
};
