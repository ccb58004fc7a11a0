/** Reads archives as `base/tar.ts` writes them: files with short names, and nothing else. */

export interface ReadEntry {
  readonly path: string;
  readonly content: Uint8Array;
}

const BLOCK = 512;

/** @throws RangeError for an archive that is cut off, or is none */
export const readTar = (archive: Uint8Array): ReadEntry[] => {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const entries: ReadEntry[] = [];
  for (let offset = 0; ; ) {
    const header = bytes.subarray(offset, offset + BLOCK);
    if (header.length < BLOCK) throw new RangeError('the archive is cut off');
    // Two empty blocks are the end.
    if (header[0] === 0) return entries;
    if (textAt(header, 257, 5) !== 'ustar') throw new RangeError('this is no archive');
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    const content = bytes.subarray(offset + BLOCK, offset + BLOCK + size);
    if (content.length !== size) throw new RangeError('the archive is cut off');
    if (textAt(header, 156, 1) === '0') entries.push({ path: textAt(header, 0, 100), content });
    offset += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
};

const textAt = (header: Buffer, offset: number, length: number): string =>
  header.toString('utf8', offset, offset + length).replace(/\0.*$/s, '');
