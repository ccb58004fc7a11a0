/**
 * What the bundles in `dist/` were made from: `make demo`, `make test` and `make bench` all build first, and bundling what has not changed
 * takes two seconds of processor time each time. By contents, not by times: a checkout of another commit and back gives files new ones.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

export interface BundleRecord {
  /** Every file that was read, relative to the working directory. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Of the inputs' contents, and of what else decides about the outputs. */
  readonly digest: string;
}

const recordSchema = z.object({ inputs: z.array(z.string()), outputs: z.array(z.string()), digest: z.string() });

/** @param settings what decides about the outputs beside the inputs, as text */
export const recordBundle = (
  file: string,
  { inputs, outputs }: Omit<BundleRecord, 'digest'>,
  settings: string,
): void => {
  const record: BundleRecord = { inputs, outputs, digest: digestOf(inputs, settings) };
  writeFileSync(file, JSON.stringify(record));
};

/** False as well when there is no record, or none that can be read. */
export const isBundleCurrent = (file: string, settings: string): boolean => {
  const record = readRecord(file);
  return (
    record !== undefined &&
    [...record.inputs, ...record.outputs].every((path) => existsSync(path)) &&
    digestOf(record.inputs, settings) === record.digest
  );
};

const readRecord = (file: string): BundleRecord | undefined => {
  try {
    return recordSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
};

const digestOf = (inputs: readonly string[], settings: string): string => {
  const hash = createHash('sha256').update(settings);
  for (const path of inputs) hash.update(`\0${path}\0`).update(readFileSync(path));
  return hash.digest('hex');
};
