/** Helm, built once from Go modules into the user's cache: Go checks its sums. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findGo } from '../kubernetes/go.ts';
import { recipeOf } from '../kubernetes/recipe.ts';
import { ensureInCache } from '../tree/tree.ts';

const VERSION = 'v3.22.0';
const PACKAGE = `helm.sh/helm/v3/cmd/helm@${VERSION}`;
const MODULE = 'sandbox/kubernetes';
const run = promisify(execFile);

/** Minutes, once. @returns the program */
export const ensureHelm = async (): Promise<string> => {
  const folder = await ensureInCache(`helm-${VERSION}-${process.arch}`, async (draft) => {
    const [goMod = '', goSum = ''] = await Promise.all(
      ['go.mod', 'go.sum'].map((name) => readFile(join(MODULE, name), 'utf8')),
    );
    const recipe = recipeOf({ goMod, goSum, architecture: process.arch });
    const go = await findGo(recipe, { env: process.env, progress: () => {} });
    const env = { ...go.env, GOBIN: draft };
    await run(go.file, ['install', '-ldflags', '-s -w', PACKAGE], { env, cwd: '/', maxBuffer: 64 << 20 });
  });
  return join(folder, 'helm');
};
