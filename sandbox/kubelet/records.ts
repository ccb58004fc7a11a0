/** What has to survive the kubelet: which pod sandboxes and containers there are. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const containerRecord = z.object({
  id: z.string(),
  /** 0 for the first start. */
  attempt: z.number(),
  startedAt: z.number(),
  /** How the one before ended. */
  previous: z
    .object({ id: z.string(), code: z.number(), signal: z.number(), startedAt: z.number(), finishedAt: z.number() })
    .optional(),
});

const sandboxRecord = z.object({
  /** The container id that CNI plugins get. */
  id: z.string(),
  pod: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }),
  /** `adding` is written before CNI ADD, so that DEL follows whatever becomes of it. */
  phase: z.enum(['adding', 'ready']),
  hostNetwork: z.boolean(),
  netns: z.string().optional(),
  conf: z
    .object({
      cniVersion: z.string(),
      name: z.string(),
      plugins: z.array(z.looseObject({ type: z.string() })),
      disableGC: z.boolean(),
    })
    .optional(),
  result: z.unknown().optional(),
  addresses: z.array(z.string()),
  containers: z.record(z.string(), containerRecord),
});

export type SandboxRecord = z.infer<typeof sandboxRecord>;
export type ContainerRecord = z.infer<typeof containerRecord>;

export interface RecordStore {
  load(): Promise<SandboxRecord[]>;
  save(record: SandboxRecord): Promise<void>;
  remove(id: string): Promise<void>;
}

export const createRecordStore = (folder: string): RecordStore => {
  const pathOf = (id: string): string => join(folder, `${id}.json`);
  return {
    load: async () => {
      await mkdir(folder, { recursive: true });
      const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
      return await Promise.all(
        files.map(async (name) => sandboxRecord.parse(JSON.parse(await readFile(join(folder, name), 'utf8')))),
      );
    },
    save: async (record) => {
      const draft = `${pathOf(record.id)}.new`;
      await writeFile(draft, JSON.stringify(record));
      await rename(draft, pathOf(record.id));
    },
    remove: (id) => rm(pathOf(id), { force: true }),
  };
};
