/** promtool, built once from Go modules into the user's cache, as the programs of Kubernetes are (ADR 82). */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ensurePrograms, readSources } from '../../../sandbox/kubernetes/build.ts';
import { attemptProgram, type ProgramResult } from '../../conformance/kube/program.ts';

export type Promtool = (...args: string[]) => Promise<ProgramResult>;

const MODULE = join(import.meta.dirname, 'promtool');
/** Without the clients of all clouds, by which Prometheus finds what it scrapes: rules need none of them. */
const TAGS = ['remove_all_sd'];
const FLAGS = '-s -w';

/** Two minutes, once. */
export const createPromtool = async (): Promise<Promtool> => {
  const { promtool } = await ensurePrograms(['promtool'], await promtoolModule(), { progress: () => {} });
  const env = { PATH: process.env['PATH'] ?? '' };
  return (...args) => attemptProgram(promtool, args, { env, timeoutMs: 60_000 });
};

const promtoolModule = async () => {
  const sources = await readSources(MODULE, ['go.mod', 'go.sum']);
  const [goMod = ''] = sources;
  const version = /^\s*github\.com\/prometheus\/prometheus (v\S+)/m.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) throw new Error(`${MODULE}/go.mod names no version`);
  const digest = createHash('sha256')
    .update(JSON.stringify([sources, TAGS, FLAGS, process.arch]))
    .digest('hex');
  return {
    title: 'Prometheus',
    recipe: { version, toolchain, key: `promtool-${version}-${digest.slice(0, 12)}` },
    ...{ module: MODULE, flags: FLAGS, tags: TAGS },
    packages: { promtool: 'github.com/prometheus/prometheus/cmd/promtool' },
  };
};
