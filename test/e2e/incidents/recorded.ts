/**
 * What operators saw in each incident when `npm run record:incidents` ran, for docs/operations.md. `make gen` makes its samples from
 * `recorded.json`, and every run of the suite compares what it sees with the first lines there.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { IncidentId } from './pages.ts';

export const RECORDED_PATH = join(import.meta.dirname, 'recorded.json');

export interface Shown {
  /** As it is typed. */
  readonly command: string;
  readonly output: readonly string[];
}

const recordedSchema = z.record(z.string(), z.array(z.object({ command: z.string(), output: z.array(z.string()) })));
export type Recorded = Readonly<Record<string, readonly Shown[]>>;

export const readRecorded = (): Recorded => recordedSchema.parse(JSON.parse(readFileSync(RECORDED_PATH, 'utf8')));

/** What this kernel lacks stays, and nftables that were flushed three times are a warning for five minutes. */
export const withoutPast = (problems: string): string =>
  problems.replaceAll(/^(info .*|warning .*\[changed-by-others\])\n( .*\n)*/gm, '');

const withoutKernel = (problems: string): string => problems.replaceAll(/^info .*\n( .*\n)*/gm, '');

/** Without what differs in every run, and without what another incident, or this kernel, has left. */
export const normalized = (incident: IncidentId, output: string): string[] =>
  (incident === 'nftables' ? withoutKernel : withoutPast)(output)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-01T12:00:00Z')
    .replaceAll(/\b\d\d:\d\d:\d\dZ/g, '12:00:00Z')
    .replaceAll(/\bconfiguration \d+/g, 'configuration 21')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '…')
    .trimEnd()
    .split('\n');

/** Two lines that differ in numbers only say the same; columns are as wide as what is in them. */
export const comparable = (line: string | undefined): string =>
  (line ?? '').replaceAll(/\d+/g, 'N').replaceAll(/ +/g, ' ');
