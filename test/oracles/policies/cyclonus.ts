/** cyclonus' cases and its own verdicts, of a program that is built once from Go modules into the user's cache (ADR 82). */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { ensurePrograms, readSources } from '../../../sandbox/kubernetes/build.ts';

const MODULE = join(import.meta.dirname, 'cyclonus');
const FLAGS = '-s -w';

const labels = z.record(z.string(), z.string());
const stepSchema = z.object({
  policies: z.array(z.looseObject({ metadata: z.looseObject({ namespace: z.string(), name: z.string() }) })),
  /** Labels by name. */
  namespaces: z.record(z.string(), labels),
  pods: z.array(
    z.object({
      ...{ namespace: z.string(), name: z.string(), labels, ip: z.string() },
      ports: z.array(z.object({ name: z.string(), protocol: z.enum(['TCP', 'UDP', 'SCTP']), port: z.number() })),
    }),
  ),
  /** By `x/a y/b TCP 80`. */
  allowed: z.record(z.string(), z.boolean()),
});
export type CyclonusStep = z.infer<typeof stepSchema>;

const casesSchema = z.array(z.object({ title: z.string(), steps: z.array(stepSchema) }));

/** Three minutes of one core, once. @param family of the pods' addresses */
export const cyclonusCases = async (family: 4 | 6): Promise<z.infer<typeof casesSchema>> => {
  const { cyclonus } = await ensurePrograms(['cyclonus'], await cyclonusModule(), { progress: () => {} });
  const { stdout } = await promisify(execFile)(cyclonus, [String(family)], { maxBuffer: 2 ** 26 });
  return casesSchema.parse(JSON.parse(stdout));
};

const cyclonusModule = async () => {
  const sources = await readSources(MODULE, ['go.mod', 'go.sum', 'main.go']);
  const [goMod = ''] = sources;
  const version = /mattfenwick\/cyclonus (v\S+)/.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) throw new Error(`${MODULE}/go.mod names no version`);
  const digest = createHash('sha256')
    .update(JSON.stringify([sources, FLAGS, process.arch]))
    .digest('hex');
  return {
    title: 'cyclonus',
    recipe: { version, toolchain, key: `cyclonus-${version}-${digest.slice(0, 12)}` },
    ...{ module: MODULE, flags: FLAGS, packages: { cyclonus: '.' } },
  };
};
