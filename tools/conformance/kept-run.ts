/**
 * What runs leave in `.conformance/SUITE/START`: reports, logs, and what the page says of the run itself. A whole run replaces those before
 * it; one that repeats some specs is kept beside them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseReport } from './ginkgo-report.ts';
import { parseKnownFailures } from './known-failures.ts';
import type { KeptPart, Run } from './page.ts';
import { factsSchema, type RunFacts } from './run-facts.ts';
import { SUITE_NAMES, type SuiteName } from './suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const KEPT_FOLDER = join(ROOT, '.conformance');

/** Made when the run starts. It counts once it has a report. */
export const createRunFolder = async (suite: SuiteName, facts: RunFacts, kept = KEPT_FOLDER): Promise<string> => {
  const folder = join(kept, suite, facts.started.replaceAll(':', '-'));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, FACTS), `${JSON.stringify(facts, undefined, 2)}\n`);
  return folder;
};

const FACTS = 'facts.json';
const REPORT = 'report.json';

/** After a whole run. */
export const removeOtherRuns = async (suite: SuiteName, folder: string, kept = KEPT_FOLDER): Promise<void> => {
  const folders = (await runFolders(suite, kept)).filter((other) => other !== folder);
  await Promise.all(folders.map((other) => rm(other, { recursive: true, force: true })));
};

/** In the order in which they ran: the names are times. */
const runFolders = async (suite: SuiteName, kept: string): Promise<string[]> => {
  const folder = join(kept, suite);
  if (!existsSync(folder)) return [];
  return (await readdir(folder)).sort().map((name) => join(folder, name));
};

export const readParts = async (suite: SuiteName, kept = KEPT_FOLDER): Promise<KeptPart[]> => {
  const folders = (await runFolders(suite, kept)).filter((folder) => existsSync(join(folder, REPORT)));
  return await Promise.all(
    folders.map(async (folder) => ({
      facts: factsSchema.parse(JSON.parse(await readFile(join(folder, FACTS), 'utf8'))),
      report: parseReport(await readFile(join(folder, REPORT), 'utf8')),
    })),
  );
};

/** @throws Error when nothing was run */
export const readKeptRun = async (kept = KEPT_FOLDER): Promise<Run> => {
  const parts = await Promise.all(SUITE_NAMES.map(async (name) => [name, await readParts(name, kept)] as const));
  const ran = parts.filter(([, list]) => list.length > 0);
  if (ran.length === 0) throw new Error(`${kept} has no reports: run \`make conformance\` first`);
  return { known: await readKnownFailures(), parts: Object.fromEntries(ran) };
};

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
