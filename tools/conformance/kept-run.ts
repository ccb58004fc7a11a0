/** What a run leaves in `.conformance`: reports, logs, and what the page says of the run itself. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseReport, type SuiteReport } from './ginkgo-report.ts';
import { parseKnownFailures } from './known-failures.ts';
import type { Run } from './page.ts';
import { SUITE_NAMES, type SuiteName } from './suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, '.conformance');
const FACTS = join(FOLDER, 'facts.json');

const factsSchema = z.object({
  version: z.string(),
  commit: z.string(),
  nodes: z.number(),
  datapath: z.string(),
  processors: z.number(),
});

export type RunFacts = z.output<typeof factsSchema>;

export const folderOf = (name: string): string => join(FOLDER, name);

/** Reports of another commit go: the page has one run. */
export const keepFacts = async (facts: RunFacts): Promise<void> => {
  await mkdir(FOLDER, { recursive: true });
  const kept = existsSync(FACTS) ? factsSchema.safeParse(JSON.parse(await readFile(FACTS, 'utf8'))).data : undefined;
  if (kept?.commit !== facts.commit || kept.version !== facts.version) {
    await Promise.all(SUITE_NAMES.map((name) => rm(folderOf(name), { recursive: true, force: true })));
  }
  await writeFile(FACTS, `${JSON.stringify(facts, undefined, 2)}\n`);
};

/** @throws Error when nothing was run */
export const readKeptRun = async (): Promise<Run> => {
  const facts = factsSchema.parse(JSON.parse(await readFile(FACTS, 'utf8')));
  const kept = SUITE_NAMES.filter((name) => existsSync(reportOf(name)));
  const reports = await Promise.all(kept.map(async (name) => [name, await readKeptReport(name)] as const));
  return { ...facts, known: await readKnownFailures(), reports: Object.fromEntries(reports) };
};

const reportOf = (name: SuiteName): string => join(folderOf(name), 'report.json');

const readKeptReport = async (name: SuiteName): Promise<SuiteReport> =>
  parseReport(await readFile(reportOf(name), 'utf8'));

export const readKnownFailures = async () =>
  parseKnownFailures(await readFile(join(import.meta.dirname, 'known-failures.yaml'), 'utf8'));

export const describeCommit = (): string => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
};
