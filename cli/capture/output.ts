/** Where the files of a capture go: a folder, an archive, or an archive on standard output. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, open, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../base/error-code.ts';
import type { ReadEntry } from '../../base/tar-reader.ts';
import { type CaptureFolder, openCaptureFolder, removeAbandoned } from '../../program/capture-folders.ts';
import { CliError } from '../errors.ts';
import { archiveOf } from './archive.ts';

export type CaptureOutput =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'archive'; readonly path: string }
  | { readonly kind: 'stream' };

/** @param asked of the command line; undefined: a folder of this pod and time @throws CliError for what has files already */
export const captureOutput = (asked: string | undefined, pod: string, now: Date): CaptureOutput => {
  if (asked === '-') return { kind: 'stream' };
  if (asked?.endsWith('.tar')) {
    if (existsSync(asked)) throw alreadyExists(asked);
    return { kind: 'archive', path: asked };
  }
  const time = now
    .toISOString()
    .replace(/[-:]|\..*/g, '')
    .replace('T', '-');
  const path = asked ?? `udn-capture-${pod.replace('/', '-')}-${time}`;
  if (existsSync(path) && readdirSync(path).length > 0) throw new CliError(`--output: ${path} is not empty`, 2);
  return { kind: 'folder', path };
};

const alreadyExists = (path: string): CliError => new CliError(`--output: ${path} already exists`, 2);

/**
 * Where tcpdump writes, for root alone: packets are tenants' secrets. Of an archive it is deleted in the end, and what earlier
 * captures have left there now.
 * @param other where the usual one cannot be written, as in the agent's container
 */
export const openFolder = async (output: CaptureOutput, other: string): Promise<CaptureFolder> => {
  if (output.kind === 'folder') return await openOutputFolder(output.path);
  const parents = [tmpdir(), other];
  for (const parent of parents) await removeAbandoned(parent, Date.now());
  return await openCaptureFolder(tmpdir()).catch(async (error: unknown) => {
    if (!['EROFS', 'EACCES', 'ENOENT'].includes(String(codeOf(error)))) throw error;
    return await openCaptureFolder(other);
  });
};

/** One that was made for nothing is deleted. */
const openOutputFolder = async (path: string): Promise<CaptureFolder> => {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  const removeEmpty = (): Promise<void> => rmdir(path).catch(() => {});
  return { path, [Symbol.asyncDispose]: made === undefined ? async () => {} : removeEmpty };
};

/** Puts the files where they were asked for. @returns where, for people */
export const deliver = async (output: CaptureOutput, folder: string, stdout: (bytes: Uint8Array) => void) => {
  if (output.kind === 'folder') return output.path;
  if (output.kind === 'archive') {
    await writeArchive(output.path, folder);
    return output.path;
  }
  // Pipes and files are written synchronously (Node.js, "A note on process I/O"): no piece waits in memory.
  for await (const piece of archiveOf(folder)) stdout(piece);
  return 'the archive on standard output';
};

/** Never into a file that exists: others may read it, or have it open. @throws CliError when it exists */
const writeArchive = async (path: string, folder: string): Promise<void> => {
  await using file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw codeOf(error) === 'EEXIST' ? alreadyExists(path) : error;
  });
  try {
    await file.writeFile(archiveOf(folder));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
};

/** @throws CliError for names that lead out of the folder: an archive comes from another machine */
export const writeFiles = async (folder: string, files: readonly ReadEntry[]): Promise<void> => {
  const odd = files.find(({ path }) => !/^\w[\w.-]*$/.test(path));
  if (odd !== undefined) throw new CliError(`the node sent a file with the name ${JSON.stringify(odd.path)}`);
  for (const { path, content } of files) await writeFile(join(folder, path), content, { mode: 0o600, flag: 'wx' });
};
