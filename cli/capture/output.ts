/** Where the files of a capture go: a folder, an archive, or an archive on standard output. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../base/error-code.ts';
import { tarArchive } from '../../base/tar.ts';
import type { ReadEntry } from '../../base/tar-reader.ts';
import { CliError } from '../errors.ts';

export type CaptureOutput =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'archive'; readonly path: string }
  | { readonly kind: 'stream' };

/** @param asked of the command line; undefined: a folder of this pod and time @throws CliError for what has files already */
export const captureOutput = (asked: string | undefined, pod: string, now: Date): CaptureOutput => {
  if (asked === '-') return { kind: 'stream' };
  if (asked?.endsWith('.tar')) return { kind: 'archive', path: asked };
  const time = now
    .toISOString()
    .replace(/[-:]|\..*/g, '')
    .replace('T', '-');
  const path = asked ?? `udn-capture-${pod.replace('/', '-')}-${time}`;
  if (existsSync(path) && readdirSync(path).length > 0) throw new CliError(`--output: ${path} is not empty`, 2);
  return { kind: 'folder', path };
};

export interface FileFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Where tcpdump writes, for root alone: packets are tenants' secrets. Of an archive it is deleted in the end.
 * @param other where the usual one cannot be written, as in the agent's container
 */
export const openFolder = async (output: CaptureOutput, other: string): Promise<FileFolder> => {
  if (output.kind === 'folder') {
    await mkdir(output.path, { recursive: true, mode: 0o700 });
    return { path: output.path, [Symbol.asyncDispose]: async () => {} };
  }
  const path = await mkdtemp(join(tmpdir(), PREFIX)).catch(async (error: unknown) => {
    if (!['EROFS', 'EACCES', 'ENOENT'].includes(String(codeOf(error)))) throw error;
    return await mkdtemp(join(other, PREFIX));
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};

const PREFIX = 'udn-capture-';

/** Puts the files where they were asked for. @returns where, for people */
export const deliver = async (output: CaptureOutput, folder: string, stdout: (bytes: Uint8Array) => void) => {
  if (output.kind === 'folder') return output.path;
  const archive = tarArchive(
    (await filesOf(folder)).map(({ path, content }) => ({ kind: 'file', path, content, mode: 0o600 })),
  );
  if (output.kind === 'archive') await writeFile(output.path, archive, { mode: 0o600 });
  else stdout(archive);
  return output.kind === 'archive' ? output.path : 'the archive on standard output';
};

const filesOf = async (folder: string): Promise<ReadEntry[]> =>
  await Promise.all(
    (await readdir(folder)).sort().map(async (path) => ({ path, content: await readFile(join(folder, path)) })),
  );

/** @throws CliError for names that lead out of the folder: an archive comes from another machine */
export const writeFiles = async (folder: string, files: readonly ReadEntry[]): Promise<void> => {
  const odd = files.find(({ path }) => !/^\w[\w.-]*$/.test(path));
  if (odd !== undefined) throw new CliError(`the node sent a file with the name ${JSON.stringify(odd.path)}`);
  for (const { path, content } of files) await writeFile(join(folder, path), content, { mode: 0o600 });
};
