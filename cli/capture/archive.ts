/** An archive of the files of a capture, piece by piece: none of them is in memory as a whole. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tarEnd, tarFileHeader, tarPadding } from '../../base/tar.ts';

/** By name, without hidden files. They must not grow meanwhile. */
export async function* archiveOf(folder: string): AsyncGenerator<Uint8Array> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
  for (const name of names.sort()) yield* fileOf(join(folder, name), name);
  yield tarEnd();
}

async function* fileOf(path: string, name: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path);
  const { size } = await file.stat();
  yield tarFileHeader(name, size, 0o600);
  if (size > 0) yield* file.createReadStream({ autoClose: false, end: size - 1 });
  yield tarPadding(size);
}
