/** Keeps the files that describe how to enter a pod. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecInfo } from './exec-info.ts';
import { EXEC_FOLDER, execFile } from './paths.ts';

interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ExecFiles {
  write(pod: PodIdentity, info: ExecInfo): Promise<void>;
  /** Nothing when another pod has taken the name over. */
  remove(pod: PodIdentity): Promise<void>;
}

export const createExecFiles = (folder = EXEC_FOLDER): ExecFiles => {
  const owners = new Map<string, string>();
  return {
    write: async ({ namespace, name, uid }, info) => {
      const file = execFile(namespace, name);
      owners.set(file, uid);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `.${uid}`), JSON.stringify(info));
      await rename(join(folder, `.${uid}`), join(folder, file));
    },
    remove: async ({ namespace, name, uid }) => {
      const file = execFile(namespace, name);
      if ((owners.get(file) ?? uid) !== uid) return;
      owners.delete(file);
      await rm(join(folder, file), { force: true });
    },
  };
};
