/**
 * A daemon as V8 has compiled it when it was built: to compile two megabytes of source takes a third of what an agent computes until pods can be
 * added. Node's own cache (`NODE_COMPILE_CACHE`) is for one kind of processor and for one user. V8 takes code for the same version,
 * flags and length of the source, and this file sees to the rest of the source. What does not fit is compiled as ever.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

export interface CompiledBundle {
  /** Absolute path. */
  readonly bundle: string;
  readonly script: Script;
  /** What code has to begin with. */
  readonly digest: Buffer;
}

/** What the bundle has from the wrapper: `define` of DAEMON_BUNDLE (tools/lean-bundle.ts) names them, too. */
const PARAMETERS = ['require', 'module', '__filename', '__dirname', '__url'];

/** @param code what `codeOf` gave; undefined: there is none */
export const compile = (bundle: string, code: Buffer | undefined): CompiledBundle => {
  // On its first line, so that stack traces have the lines of the bundle.
  const source = `(function(${PARAMETERS.join()}){${readFileSync(bundle, 'utf8')}\n})`;
  const digest = createHash('sha256').update(source).digest();
  const cachedData = code?.subarray(0, digest.length).equals(digest) ? code.subarray(digest.length) : undefined;
  const script = new Script(source, { filename: bundle, ...(cachedData !== undefined && { cachedData }) });
  return { bundle, script, digest };
};

export const run = ({ bundle, script }: CompiledBundle): void => {
  const start: unknown = script.runInThisContext();
  if (typeof start !== 'function') throw new TypeError(`${bundle} is no bundle of a daemon`);
  start(createRequire(bundle), { exports: {} }, bundle, dirname(bundle), pathToFileURL(bundle).href);
};

/** Of what has been compiled until now, which is more after a run. */
export const codeOf = ({ script, digest }: CompiledBundle): Buffer =>
  Buffer.concat([digest, script.createCachedData()]);

/** In the folder of what is built, which is beside that of bundles. */
export const codeFile = (bundle: string): string =>
  join(dirname(bundle), '..', 'build', `${basename(bundle, '.cjs')}.code`);

/** Undefined: it cannot be read, and nothing depends on it. */
export const readCode = (bundle: string): Buffer | undefined => {
  try {
    return readFileSync(codeFile(bundle));
  } catch {
    return undefined;
  }
};
