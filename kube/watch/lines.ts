/** Cuts a stream of bytes into lines, however it is chunked: a multi-byte character may be split between chunks. */
import { KubeError } from '../errors.ts';

export interface LineFramer {
  /**
   * The lines that `chunk` completes, without their line feeds.
   * @throws KubeError ERR_KUBE_PROTOCOL when a line is longer than the limit
   */
  push(chunk: Uint8Array): string[];
  /** Bytes of a line that is not complete. */
  readonly pending: number;
}

const LINE_FEED = 10;

/** An object is at most 1.5 MiB in etcd; its JSON with managedFields may be a few times that. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export const createLineFramer = (maxBytes = MAX_LINE_BYTES): LineFramer => {
  let parts: Uint8Array[] = [];
  let size = 0;
  const keep = (part: Uint8Array): void => {
    if (part.length === 0) return;
    parts.push(part);
    size += part.length;
    if (size > maxBytes) throw new KubeError('ERR_KUBE_PROTOCOL', `a watch line is longer than ${maxBytes} bytes`);
  };
  const take = (): string => {
    const line = (parts.length === 1 && parts[0] !== undefined ? asBuffer(parts[0]) : Buffer.concat(parts)).toString();
    parts = [];
    size = 0;
    return line;
  };
  return {
    push: (chunk) => {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        keep(chunk.subarray(start, end));
        lines.push(take());
        start = end + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
    get pending() {
      return size;
    },
  };
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
