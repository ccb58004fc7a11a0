/**
 * `make check`: what can be said about the sources without starting anything. The other steps run one after the
 * other beside the tests. A step that passes prints one line, one that fails everything that it wrote.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { REPORT_FOLDER, reportFile } from './reports.ts';

interface Step {
  readonly step: string;
  readonly command: readonly string[];
}

interface Outcome {
  readonly step: string;
  readonly ok: boolean;
  readonly seconds: number;
}

const STATIC: readonly Step[] = [
  { step: 'types', command: [process.execPath, '--run', 'types'] },
  { step: 'lint and format', command: [process.execPath, '--run', 'lint'] },
  { step: 'import rules', command: [process.execPath, '--run', 'imports'] },
  { step: 'sizes of files', command: [process.execPath, '--run', 'sizes'] },
  { step: 'dead code', command: [process.execPath, '--run', 'dead'] },
  { step: 'generated files', command: [process.execPath, '--run', 'gen:check'] },
];
/** With a report of its own, as the lane has: who ran this need not run the lane. */
const REPORTERS = ['--reporter=dot', '--reporter=json', `--outputFile.json=${reportFile('unit')}`];
const TESTS: Step = { step: 'unit tests', command: [process.execPath, '--run', 'test:unit', '--', ...REPORTERS] };

const main = async (): Promise<void> => {
  const report = reportFile('check');
  mkdirSync(REPORT_FOLDER, { recursive: true });
  for (const file of [report, reportFile('unit')]) rmSync(file, { force: true });
  const [statics, tests] = await Promise.all([oneAfterTheOther(STATIC), run(TESTS)]);
  const outcomes = [...statics, tests];
  writeFileSync(report, JSON.stringify(outcomes));
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = 1;
};

const oneAfterTheOther = async (steps: readonly Step[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await run(step));
  return outcomes;
};

const run = async ({ step, command }: Step): Promise<Outcome> => {
  const start = performance.now();
  const { status, output } = await captured(command);
  const seconds = (performance.now() - start) / 1000;
  const ok = status === 0;
  if (!ok) console.log(output.trimEnd());
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${step} (${seconds.toFixed(1)} s)`);
  return { step, ok, seconds };
};

/** Both of its streams, in the order in which it wrote. */
const captured = async ([file = '', ...args]: readonly string[]): Promise<{ status: number; output: string }> => {
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ status: code ?? 1, output: Buffer.concat(chunks).toString('utf8') }));
  });
};

await main();
