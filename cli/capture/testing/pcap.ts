/** Capture files for tests, as pcap-savefile(5) has them. */

/** @param times of packets, in milliseconds */
export const pcapOf = (
  times: readonly number[],
  { isBigEndian = false, isNano = false }: { readonly isBigEndian?: boolean; readonly isNano?: boolean } = {},
): Buffer => {
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    if (isBigEndian) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const perMillisecond = isNano ? 1_000_000 : 1_000;
  const header = [isNano ? 0xa1b23c4d : 0xa1b2c3d4, 0x00040002, 0, 0, 1_600, 1].map(word);
  const records = times.flatMap((time, index) => {
    const length = 60 + index;
    const [seconds, rest] = [Math.floor(time / 1_000), Math.round((time % 1_000) * perMillisecond)];
    return [...[seconds, rest, length, length].map(word), Buffer.alloc(length, index)];
  });
  return Buffer.concat([...header, ...records]);
};
