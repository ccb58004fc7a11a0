/** How many checks and tests passed, from the reports that `make check` and `make test` leave in `build/reports`. Pure. */
import { z } from 'zod';

export const REPORT_FOLDER = 'build/reports';

/** The test lanes of docs/testing.md, in the order in which they run. */
export const LANES = ['unit', 'integration', 'e2e'] as const;

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
});

const checkSchema = z.array(z.object({ step: z.string(), ok: z.boolean(), seconds: z.number() })).min(1);
