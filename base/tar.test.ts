import { describe, expect, it } from 'vitest';
import { tarArchive } from './tar.ts';

const text = (block: Buffer, start: number, length: number): string =>
  block.toString('latin1', start, start + length).replace(/\0.*$/s, '');

/** Of the fields of a header, POSIX pax(1). */
const readHeader = (block: Buffer) => ({
  name: text(block, 0, 100),
  mode: Number.parseInt(text(block, 100, 8), 8),
  size: Number.parseInt(text(block, 124, 12), 8),
  checksum: Number.parseInt(text(block, 148, 8), 8),
  type: text(block, 156, 1),
  magic: block.toString('latin1', 257, 265),
});

/** The sum of all bytes, those of the sum itself taken for spaces. */
const checksumOf = (block: Buffer): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);

describe('tarArchive', () => {
  const archive = tarArchive([
    { kind: 'folder', path: 'usr' },
    { kind: 'file', path: 'usr/a', content: Buffer.alloc(513, 'x'), mode: 0o755 },
    { kind: 'file', path: 'empty', content: Buffer.alloc(0), mode: 0o444 },
  ]);
  const block = (index: number): Buffer => archive.subarray(index * 512, (index + 1) * 512);

  it('has a header for each, its content in whole blocks, and two empty blocks', () => {
    expect(archive).toHaveLength(512 * (1 + 1 + 2 + 1 + 2));
    expect(readHeader(block(0))).toMatchObject({ name: 'usr/', mode: 0o755, size: 0, type: '5' });
    expect(readHeader(block(1))).toMatchObject({ name: 'usr/a', mode: 0o755, size: 513, type: '0' });
    expect(readHeader(block(4))).toMatchObject({ name: 'empty', mode: 0o444, size: 0, type: '0' });
    expect(archive.subarray(2 * 512, 2 * 512 + 513).toString()).toBe('x'.repeat(513));
    expect(archive.subarray(-1024).every((byte) => byte === 0)).toBe(true);
  });

  it('has checksums and the magic of ustar', () => {
    for (const index of [0, 1, 4]) {
      const { checksum, magic } = readHeader(block(index));
      expect(checksum).toBe(checksumOf(block(index)));
      expect(magic).toBe('ustar\x0000');
    }
  });

  it('breaks a long path at a slash, and both halves are in the header', () => {
    const [folder, file] = ['f'.repeat(120), 'n'.repeat(98)];
    const header = tarArchive([{ kind: 'file', path: `${folder}/${file}`, content: Buffer.alloc(0), mode: 0o600 }]);
    expect({ name: readHeader(header).name, prefix: text(header, 345, 155) }).toEqual({ name: file, prefix: folder });
    expect(readHeader(header).checksum).toBe(checksumOf(header.subarray(0, 512)));
  });

  it('refuses a name that does not fit', () => {
    expect(() => tarArchive([{ kind: 'folder', path: 'x'.repeat(99) }])).toThrow(RangeError);
  });
});
