import { expect, it } from 'vitest';
import { tarArchive } from './tar.ts';
import { readTar } from './tar-reader.ts';

const file = (path: string, content: string) => ({ path, content: Buffer.from(content) });
const FILES = [file('a', ''), file('b.txt', 'text'), file('c', 'x'.repeat(512)), file('d', 'y'.repeat(5_000))];
const archive = tarArchive([
  { kind: 'folder', path: 'folder' },
  ...FILES.map((one) => ({ kind: 'file', mode: 0o600, ...one }) as const),
]);

it('reads the files that were written', () => {
  expect(readTar(archive).map(({ path, content }) => file(path, String(Buffer.from(content))))).toEqual(FILES);
});

it('what is cut off, or is no archive, is refused', () => {
  expect(() => readTar(archive.subarray(0, 700))).toThrow('the archive is cut off');
  expect(() => readTar(archive.subarray(0, archive.length - 1_024))).toThrow('the archive is cut off');
  expect(() => readTar(Buffer.alloc(512, 'x'))).toThrow('this is no archive');
});
