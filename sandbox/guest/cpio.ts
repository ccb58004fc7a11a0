/** Archives that the kernel unpacks as its initial root: `newc` of cpio(5), Documentation/driver-api/early-userspace. */

export interface ArchiveFile {
  /** From the archive's root, without a slash in front; its folders come before it. */
  readonly path: string;
  /** Absent for a folder. */
  readonly content?: Uint8Array;
}

const FOLDER_MODE = 0o040755;
const PROGRAM_MODE = 0o100755;

export const cpioArchive = (files: readonly ArchiveFile[]): Buffer =>
  Buffer.concat([...files.map((file, index) => entry(file, index + 1)), entry({ path: 'TRAILER!!!' }, 0)]);

const entry = ({ path, content }: ArchiveFile, inode: number): Buffer => {
  const mode = inode === 0 ? 0 : content === undefined ? FOLDER_MODE : PROGRAM_MODE;
  const name = Buffer.from(`${path}\0`);
  const links = content === undefined ? 2 : 1;
  const fields = [inode, mode, 0, 0, links, 0, content?.length ?? 0, 0, 0, 0, 0, name.length, 0];
  const head = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`);
  return Buffer.concat([padded(Buffer.concat([head, name])), padded(content ?? new Uint8Array())]);
};

/** To a multiple of four. */
const padded = (bytes: Uint8Array): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
