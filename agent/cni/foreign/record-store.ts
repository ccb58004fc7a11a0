/** The folder of records. A file is replaced by renaming, so that one is whole or not there. */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/error-message.ts';
import { type SandboxRecord, sandboxRecordSchema } from './record.ts';

export interface RecordStore {
  /** Undefined: the sandbox has no attachments of other plugins. @throws Error when what is there cannot be read */
  read(containerId: string): Promise<SandboxRecord | undefined>;
  /** One without attachments is removed. */
  write(record: SandboxRecord): Promise<void>;
  /** Sandboxes that have one. */
  list(): Promise<readonly string[]>;
}

const SUFFIX = '.json';

/** @param folder is made when the first record is */
export const recordStore = (folder: string): RecordStore => {
  // Ids of sandboxes are file names: `attachmentRequest` of api/cni/request.ts lets no other ones through.
  const pathOf = (containerId: string): string => join(folder, `${containerId}${SUFFIX}`);
  return {
    read: async (containerId) => {
      const path = pathOf(containerId);
      const text = await readFile(path, 'utf8').catch(ignoreAbsent);
      if (text === undefined) return undefined;
      try {
        return sandboxRecordSchema.parse(JSON.parse(text));
      } catch (cause) {
        throw new Error(`${path} cannot be read: ${messageOf(cause)}`, { cause });
      }
    },
    write: async (record) => {
      const path = pathOf(record.containerId);
      if (record.attachments.length === 0) return await rm(path, { force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeDurably(`${path}.new`, JSON.stringify(record));
      await rename(`${path}.new`, path);
      await synced(folder);
    },
    list: async () => {
      const names = (await readdir(folder).catch(ignoreAbsent)) ?? [];
      return names.flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
    },
  };
};

/** What is on record outlives a loss of power: an empty record would keep its sandbox from being deleted. */
const writeDurably = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, 'w', 0o600);
  await file.writeFile(text);
  await file.sync();
};

const synced = async (folder: string): Promise<void> => {
  await using entries = await open(folder, 'r');
  await entries.sync();
};

const ignoreAbsent = (error: unknown): undefined => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  // An id that makes no file name has never had a record.
  if (code === 'ENOENT' || code === 'ENAMETOOLONG') return undefined;
  throw error;
};
