/** `make bench`: runs the benchmarks, prints a table, and writes `.bench/results.json` and `.bench/results.md`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTree } from '../sandbox/tree/tree.ts';
import { openContext } from './bench-run.ts';
import { BENCHMARKS, type Benchmark, benchmarksNamed } from './catalog.ts';
import type { BenchContext } from './context.ts';
import { describeCommit, describeMachine } from './machine.ts';
import { type BenchDocument, benchDocument, formatMarkdown, formatTable, withResults } from './report/document.ts';
import type { BenchResult } from './report/result.ts';

const OPTIONS = {
  only: { type: 'string', multiple: true },
  runs: { type: 'string', default: '3' },
  full: { type: 'boolean' },
  docs: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;
const PAGE = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');
const FOLDER = join(import.meta.dirname, '..', '.bench');

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help === true) {
    console.log(help());
    return;
  }
  const selected = benchmarksNamed(values.only ?? [], values.full === true);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort(new Error('stopped')));
  const progress = (message: string): void => console.error(message);
  await ensureTree(progress);
  const facts = { commit: describeCommit(), machine: describeMachine(), runs: runsOf(values.runs) };
  const start = performance.now();
  const { results, failures } = await runAll(selected, facts.runs, stop.signal, progress);
  const document = benchDocument({ ...facts, minutes: Math.round((performance.now() - start) / 60_000) }, results);
  if (!stop.signal.aborted) write(document);
  if (values.docs === true && !stop.signal.aborted)
    writeFileSync(PAGE, withResults(readFileSync(PAGE, 'utf8'), formatMarkdown(document)));
  console.log(`\n${formatTable(document.results)}`);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
};

const write = (document: BenchDocument): void => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'results.json'), `${JSON.stringify(document, undefined, 2)}\n`);
  writeFileSync(join(FOLDER, 'results.md'), formatMarkdown(document));
};

/** @throws Error when it is no number of runs */
const runsOf = (text: string): number => {
  const runs = Number(text);
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs: "${text}" is not a positive integer`);
  return runs;
};

/** All runs of one before the next: what they need is prepared once (docs/adr/0093-measure-three-runs-on-one-state.md). */
const runAll = async (
  benchmarks: readonly Benchmark[],
  count: number,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<{ results: BenchResult[]; failures: string[] }> => {
  const results: BenchResult[] = [];
  const failures: string[] = [];
  const context = openContext({ count, signal, onFailure: (message) => failures.push(message) }, progress);
  for (const [index, benchmark] of benchmarks.entries()) {
    if (signal.aborted) break;
    const start = performance.now();
    const outcome = await tryRun(benchmark, context);
    progress(`${benchmark.names[0]}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
    if (typeof outcome !== 'string') results.push(...outcome);
    else if (!signal.aborted) failures.push(outcome);
    const shared = benchmarks.slice(index + 1).flatMap(({ shares = [] }) => shares);
    failures.push(...(await context.endAllBut(new Set(shared))));
  }
  failures.push(...(await context.endAllBut(new Set())));
  if (signal.aborted) failures.push('stopped before the end');
  return { results, failures };
};

/** What keeps one benchmark from running does not keep the others. @returns a message when it failed */
const tryRun = async ({ names, run }: Benchmark, context: BenchContext): Promise<BenchResult[] | string> => {
  try {
    return await run(context);
  } catch (error) {
    return `${names.join(', ')} could not be run: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
};

const help = (): string =>
  [
    'make bench [ONLY=NAME] [RUNS=N] [FULL=1]    or    npm run bench -- [--only NAME]… [--runs N] [--full] [--docs]',
    '--runs N measures each of them N times (default 3) and shows the run with the median ratio beside the ratios of all.',
    '--full measures those on request, too: they take long, and say nothing about most changes.',
    '--docs puts the results into docs/benchmarks.md, too. NAME is a benchmark, or the beginning of several:',
    ...namesWhere((benchmark) => benchmark.onRequest !== true),
    'On request, by --full or by their names:',
    ...namesWhere((benchmark) => benchmark.onRequest === true),
  ].join('\n');

const namesWhere = (isListed: (benchmark: Benchmark) => boolean): string[] =>
  BENCHMARKS.filter(isListed).flatMap(({ names }) => names.map((name) => `  ${name}`));

await main();
