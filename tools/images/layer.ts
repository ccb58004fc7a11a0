/** Layers of an image: OCI Image Specification v1.1, "Image Layer Filesystem Changeset". */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type TarEntry, tarArchive } from '../../base/tar.ts';
import type { ImageFile } from './image-spec.ts';

export interface Layer {
  /** Compressed. */
  readonly content: Uint8Array;
  readonly digest: string;
  /** Digest of the archive before it is compressed. */
  readonly diffId: string;
  readonly uncompressedSize: number;
}

/** zlib writes neither a name nor a time: the same archive gives the same layer. */
export const layerOf = async (archive: Uint8Array): Promise<Layer> => {
  const content = await compress(archive, { level: 6 });
  return { content, digest: digestOf(content), diffId: digestOf(archive), uncompressedSize: archive.length };
};

const compress = promisify<Uint8Array, { level: number }, Buffer>(gzip);

export const digestOf = (content: Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Files of this checkout, of root, and executable where they are so here. */
export const layerOfFiles = async (files: readonly ImageFile[]): Promise<Layer> => {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const entries = await Promise.all(
    sorted.map(async ({ source, path }): Promise<TarEntry> => {
      const [content, { mode }] = await Promise.all([readFile(source), stat(source)]);
      return { kind: 'file', path, content, mode: (mode & 0o100) === 0 ? 0o644 : 0o755 };
    }),
  );
  const folders = [...new Set(sorted.flatMap(({ path }) => foldersOf(path)))].sort();
  return await layerOf(tarArchive([...folders.map((path): TarEntry => ({ kind: 'folder', path })), ...entries]));
};

const foldersOf = (path: string): string[] => {
  const parent = dirname(path);
  return parent === '.' ? [] : [...foldersOf(parent), parent];
};
