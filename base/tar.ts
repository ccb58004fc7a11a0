/** Archives: `ustar` of POSIX pax(1). */

export type TarEntry =
  /** Folders come before what is in them; names are from the root, without a slash in front. */
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly content: Uint8Array; readonly mode: number };

const BLOCK = 512;
const FOLDER_MODE = 0o755;

/** The same entries give the same bytes: owners are root, times are 1970. @throws RangeError for a path that has no slash to break it at */
export const tarArchive = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(partsOf), tarEnd()]);

const partsOf = (entry: TarEntry): Buffer[] => {
  if (entry.kind === 'folder') return [header(`${entry.path}/`, FOLDER_MODE, 0, '5')];
  const { path, content, mode } = entry;
  return [tarFileHeader(path, content.length, mode), Buffer.from(content), tarPadding(content.length)];
};

/** For archives that are written piece by piece: a file is its header, its content and its padding. */
export const tarFileHeader = (path: string, size: number, mode: number): Buffer => header(path, mode, size, '0');

export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** What an archive ends with. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/** The fields in their order, with how many bytes each has; the checksum is that of the block with spaces in its place. */
const header = (name: string, mode: number, size: number, type: string): Buffer => {
  const { prefix, rest } = split(name);
  const block = Buffer.alloc(BLOCK);
  let offset = 0;
  const put = (text: string, bytes: number): void => {
    block.write(text, offset);
    offset += bytes;
  };
  put(rest, 100);
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
  block.write(prefix, PREFIX_AT);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumAt);
  return block;
};

const PREFIX_AT = 345;

/** A path of 100 bytes or more is in two fields, and the slash between them in none. */
const split = (name: string): { readonly prefix: string; readonly rest: string } => {
  if (Buffer.byteLength(name) < 100) return { prefix: '', rest: name };
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
    const [prefix, rest] = [name.slice(0, slash), name.slice(slash + 1)];
    if (rest !== '' && Buffer.byteLength(rest) < 100 && Buffer.byteLength(prefix) <= 155) return { prefix, rest };
  }
  throw new RangeError(`"${name}" is too long for an archive`);
};
