/** Archives of container images' layers: `ustar` of POSIX pax(1). */

export type TarEntry =
  /** Folders come before what is in them; names are from the root, without a slash in front. */
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly content: Uint8Array; readonly mode: number };

const BLOCK = 512;
const FOLDER_MODE = 0o755;

/** The same entries give the same bytes: owners are root, times are 1970. @throws RangeError for a name of 100 bytes or more */
export const tarArchive = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(partsOf), Buffer.alloc(2 * BLOCK)]);

const partsOf = (entry: TarEntry): Buffer[] => {
  if (entry.kind === 'folder') return [header(`${entry.path}/`, FOLDER_MODE, 0, '5')];
  const { path, content, mode } = entry;
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [header(path, mode, content.length, '0'), Buffer.from(content), padding];
};

/** The fields in their order, with how many bytes each has; the checksum is that of the block with spaces in its place. */
const header = (name: string, mode: number, size: number, type: string): Buffer => {
  if (Buffer.byteLength(name) >= 100) throw new RangeError(`"${name}" is too long for an archive`);
  const block = Buffer.alloc(BLOCK);
  let offset = 0;
  const put = (text: string, bytes: number): void => {
    block.write(text, offset);
    offset += bytes;
  };
  put(name, 100);
  for (const [value, digits] of [
    ...[[mode, 7] as const, [0, 7] as const, [0, 7] as const],
    ...[[size, 11] as const, [0, 11] as const],
  ]) {
    put(value.toString(8).padStart(digits, '0'), digits + 1);
  }
  const checksumAt = offset;
  put(' '.repeat(8), 8);
  put(type, 1 + 100);
  put('ustar\0' + '00', 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumAt);
  return block;
};
