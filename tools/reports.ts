/** How many checks and tests passed, from the reports that `make check` and `make test` leave in `build/reports`. Pure. */
import { basename } from 'node:path';
import { z } from 'zod';

export const REPORT_FOLDER = 'build/reports';

/**
 * The test lanes of docs/testing.md in two rows, which run beside each other, and each one lane after the other. The same scenarios must
 * not run at once, as their sandboxes have the same names: e2e and e2e-on-demand are in one row. A guest has one file at a time, so three
 * files run at once, and four at the end, when guests are done: the rows end together.
 */
export const ROWS = [
  ['unit', 'e2e', 'e2e-on-demand', 'simulations'],
  ['e2e-guest', 'e2e-guest-local', 'integration'],
] as const;
export type Lane = (typeof ROWS)[number][number];
export const LANES: readonly Lane[] = ROWS.flat();

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const reportFile = (name: string): string => `${REPORT_FOLDER}/${name}.json`;

/** What Vitest's JSON reporter wrote; undefined, or what is no such report, is one failure. */
export const countsOfLane = (report: string | undefined): Counts => {
  const { success, data } = laneSchema.safeParse(parse(report));
  if (!success) return NO_REPORT;
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests } = data;
  // A file that does not load has no tests that could fail.
  const failed = data.success ? numFailedTests : Math.max(numFailedTests, 1);
  return { passed, failed, skipped: numPendingTests + numTodoTests };
};

/** One line for each test that failed, and for each file that could not be loaded. */
export const failuresOfLane = (report: string | undefined): string[] => {
  const { data } = laneSchema.safeParse(parse(report));
  return (data?.testResults ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [`${basename(name)}: ${reasonOf(message)}`] : [];
    return failed.map(({ fullName, failureMessages }) => `${basename(name)}: ${fullName}: ${reasons(failureMessages)}`);
  });
};

/** How to have the samples again that its tests have sent: it is in their names. */
export const seedsOfLane = (report: string | undefined): string[] => {
  const { data } = laneSchema.safeParse(parse(report));
  const names = (data?.testResults ?? []).flatMap((one) => one.assertionResults.map(({ fullName }) => fullName));
  return [...new Set(names.flatMap((name) => name.match(/\bUDN_HOSTILE(?:_SEED)?=\w+/g) ?? []))];
};

/** One line for each test that passed only at the second try. */
export const retriedOfLane = (report: string | undefined): string[] => {
  const { data } = laneSchema.safeParse(parse(report));
  return (data?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) => `${basename(name)}: ${fullName}: ${reasons(failureMessages)}`),
  );
};

/** The files that took longest, in whole seconds. */
export const longestOfLane = (report: string | undefined, count: number): string[] => {
  const { data } = laneSchema.safeParse(parse(report));
  return (data?.testResults ?? [])
    .map(({ name, startTime, endTime }) => ({
      file: basename(name, '.test.ts'),
      seconds: (endTime - startTime) / 1000,
    }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`);
};

/** Of each try, when they differ. */
const reasons = (messages: readonly string[]): string => [...new Set(messages.map(reasonOf))].join(' || ');

/** Characters at its two ends. */
const REASON = { head: 200, tail: 400 };

/** In one line, without where it was thrown: a program's error output often has the reason in its last line. */
const reasonOf = (message = ''): string => {
  const [reason = ''] = message.split(/\n\s+at /);
  const text = reason
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' | ');
  if (text.length <= REASON.head + REASON.tail) return text;
  return `${text.slice(0, REASON.head)} … ${text.slice(-REASON.tail)}`;
};

/** What `tools/check.ts` wrote. */
export const countsOfCheck = (report: string | undefined): Counts => {
  const { success, data } = checkSchema.safeParse(parse(report));
  if (!success) return NO_REPORT;
  const failed = data.filter(({ ok }) => !ok).length;
  return { passed: data.length - failed, failed, skipped: 0 };
};

export const sumOf = (counts: readonly Counts[]): Counts => ({
  passed: counts.reduce((sum, { passed }) => sum + passed, 0),
  failed: counts.reduce((sum, { failed }) => sum + failed, 0),
  skipped: counts.reduce((sum, { skipped }) => sum + skipped, 0),
});

export const formatCounts = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;

const NO_REPORT: Counts = { passed: 0, failed: 1, skipped: 0 };

const parse = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

const laneSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z
    .array(
      z.object({
        name: z.string(),
        status: z.string(),
        message: z.string().optional(),
        startTime: z.number().default(0),
        endTime: z.number().default(0),
        assertionResults: z.array(
          z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).default([]) }),
        ),
      }),
    )
    .default([]),
});

const checkSchema = z.array(z.object({ step: z.string(), ok: z.boolean(), seconds: z.number() })).min(1);
