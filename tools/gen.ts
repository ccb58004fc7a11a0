/**
 * Writes the generated files, or with `--check` fails when one of them is not current. Each generator is a pure function
 * from sources of this repository to the text of one or more files.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crdFiles } from '../api/crd/crds.ts';
import { generateOvsdbModels } from '../ovsdb/gen/generate.ts';
import { apiDocs } from './api-docs.ts';
import { consolePage } from './console-page.ts';
import { dashboardFiles } from './dashboard.ts';
import { metricsDocs } from './metrics-docs.ts';
import { operationsDocs } from './operations-docs.ts';
import { problemDocs } from './problem-docs.ts';
import { registryDocs } from './registries.ts';
import { selectionDocs } from './selection-docs.ts';
import { serviceMatrixDocs } from './service-matrix-docs.ts';

/** Path from the repository's root → content. */
export type GeneratedFiles = Readonly<Record<string, string>>;

const GENERATORS: readonly (() => GeneratedFiles | Promise<GeneratedFiles>)[] = [
  crdFiles,
  generateOvsdbModels,
  registryDocs,
  apiDocs,
  metricsDocs,
  problemDocs,
  operationsDocs,
  consolePage,
  dashboardFiles,
  serviceMatrixDocs,
  selectionDocs,
];

const main = async (check: boolean): Promise<void> => {
  const stale: string[] = [];
  for (const generator of GENERATORS) {
    for (const [path, content] of Object.entries(await generator())) {
      if (currentContent(path) === content) continue;
      stale.push(path);
      if (!check) write(path, content);
    }
  }
  if (stale.length === 0) console.log('generated files are current');
  else console.log(`${check ? 'not current, run `make gen`' : 'written'}: ${stale.join(', ')}`);
  if (check && stale.length > 0) process.exitCode = 1;
};

const currentContent = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const write = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

await main(process.argv.includes('--check'));
