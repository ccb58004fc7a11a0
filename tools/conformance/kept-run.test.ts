import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRunFolder, readKeptRun, readParts, removeOtherRuns } from './kept-run.ts';
import type { RunFacts } from './run-facts.ts';

const FACTS: RunFacts = {
  ...{ version: 'v1.36.3', commit: 'abc', started: '2026-01-02T03:04:05.678Z', nodes: 3, kernel: 'own' },
  ...{ datapath: 'userspace', processors: 2, processes: 4 },
};
const LATER: RunFacts = { ...FACTS, commit: 'def', started: '2026-01-02T04:00:00.000Z' };
const REPORT = JSON.stringify([{ SpecialSuiteFailureReasons: null, RunTime: 1e9, SpecReports: null }]);

let kept: string;
beforeEach(async () => {
  kept = await mkdtemp(join(tmpdir(), 'kept-run-'));
});
afterEach(() => rm(kept, { recursive: true }));

const keep = async (facts: RunFacts): Promise<string> => {
  const folder = await createRunFolder('layer3', facts, kept);
  await writeFile(join(folder, 'report.json'), REPORT);
  return folder;
};
const commits = async (): Promise<string[]> => (await readParts('layer3', kept)).map(({ facts }) => facts.commit);

it('reads runs in their order, with what each says of itself', async () => {
  await keep(LATER);
  await keep(FACTS);
  expect((await readParts('layer3', kept)).map(({ facts }) => facts)).toEqual([FACTS, LATER]);
  expect(await readParts('layer2', kept)).toEqual([]);
  expect(Object.keys((await readKeptRun(kept)).parts)).toEqual(['layer3']);
});

it('does not count a run that left no report', async () => {
  await keep(FACTS);
  await createRunFolder('layer3', LATER, kept);
  expect(await commits()).toEqual(['abc']);
});

it('replaces what was before a whole run, and nothing of another suite', async () => {
  await keep(FACTS);
  const other = await createRunFolder('default', FACTS, kept);
  await writeFile(join(other, 'report.json'), REPORT);
  await removeOtherRuns('layer3', await keep(LATER), kept);
  expect(await commits()).toEqual(['def']);
  expect(await readParts('default', kept)).toHaveLength(1);
});

it('has nothing to say when nothing was run', async () => {
  await expect(readKeptRun(kept)).rejects.toThrow('has no reports');
});
