import { open } from 'node:fs/promises';

const MAX_BYTES = 16_384;

/** The last lines of a file; nothing when there is none. */
export const logTail = async (path: string, lines = 15): Promise<string> => {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, MAX_BYTES)), {
      position: Math.max(0, size - MAX_BYTES),
    });
    return buffer.subarray(0, bytesRead).toString().trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
};
