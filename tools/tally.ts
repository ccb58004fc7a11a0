/** Adds up the reports of `make check` and `make test`; the arguments are their exit statuses. Prints the closing line. */
import { readFileSync } from 'node:fs';
import {
  type Counts,
  countsOfCheck,
  countsOfLane,
  failuresOfLane,
  formatCounts,
  LANES,
  reportFile,
  retriedOfLane,
  seedsOfLane,
  sumOf,
} from './reports.ts';

const main = (statuses: readonly string[]): void => {
  const counted = sumOf([countsOfCheck(read('check')), ...LANES.map((lane) => countsOfLane(read(lane)))]);
  const total = withStatuses(counted, statuses);
  const { skipped } = total;
  if (skipped > 0) console.log(`${skipped} skipped: what they test is not on this machine (docs/testing.md)`);
  const seeds = new Set(LANES.flatMap((lane) => seedsOfLane(read(lane))));
  if (seeds.size > 0) console.log(`samples of test/oracles/hostile: ${[...seeds].join(', ')}`);
  // Again here, because the end of a long output is what is looked at first.
  for (const lane of LANES) {
    for (const line of retriedOfLane(read(lane))) console.log(`passed at the second try, ${lane}: ${line}`);
    for (const line of failuresOfLane(read(lane))) console.log(`FAILED ${lane}: ${line}`);
  }
  // The last line is read by machines and has exactly this form.
  console.log(formatCounts({ ...total, skipped: 0 }));
  if (total.failed > 0) process.exitCode = 1;
};

/** A command that failed without a failed test has failed all the same. */
const withStatuses = (counts: Counts, statuses: readonly string[]): Counts => {
  const broken = statuses.filter((status) => status !== '0').length;
  return { ...counts, failed: Math.max(counts.failed, broken) };
};

const read = (name: string): string | undefined => {
  try {
    return readFileSync(reportFile(name), 'utf8');
  } catch {
    return undefined;
  }
};

main(process.argv.slice(2));
