/** Counts the packets of a capture file while it is read: pcap-savefile(5). */

export interface PacketCount {
  readonly packets: number;
  /** Milliseconds since the epoch; undefined: no packet. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const MICROSECONDS = 0xa1b2c3d4;
const NANOSECONDS = 0xa1b23c4d;

/** A record that the end of the capture has cut off does not count. @throws Error for what is not such a file */
export const countPackets = async (file: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<PacketCount> => {
  let rest = Buffer.alloc(0);
  let format: Format | undefined;
  let [packets, first, last]: [number, number | undefined, number | undefined] = [0, undefined, undefined];
  for await (const chunk of file) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let offset = 0;
    if (format === undefined) {
      if (rest.length < FILE_HEADER) continue;
      format = formatOf(rest);
      offset = FILE_HEADER;
    }
    for (let next = recordEnd(rest, offset, format); next !== undefined; next = recordEnd(rest, offset, format)) {
      last = timeOf(rest, offset, format);
      first ??= last;
      packets += 1;
      offset = next;
    }
    rest = rest.subarray(offset);
  }
  return { packets, first, last };
};

interface Format {
  readonly read: (buffer: Buffer, offset: number) => number;
  /** Of the second field of a time. */
  readonly perMillisecond: number;
}

const formatOf = (header: Buffer): Format => {
  for (const read of [
    (buffer: Buffer, offset: number) => buffer.readUInt32LE(offset),
    (buffer: Buffer, offset: number) => buffer.readUInt32BE(offset),
  ]) {
    const magic = read(header, 0);
    if (magic === MICROSECONDS) return { read, perMillisecond: 1_000 };
    if (magic === NANOSECONDS) return { read, perMillisecond: 1_000_000 };
  }
  throw new Error('not a capture file');
};

/** Undefined: it is not complete yet. */
const recordEnd = (buffer: Buffer, offset: number, { read }: Format): number | undefined => {
  if (buffer.length < offset + RECORD_HEADER) return undefined;
  const end = offset + RECORD_HEADER + read(buffer, offset + 8);
  return buffer.length < end ? undefined : end;
};

const timeOf = (buffer: Buffer, offset: number, { read, perMillisecond }: Format): number =>
  read(buffer, offset) * 1_000 + read(buffer, offset + 4) / perMillisecond;
