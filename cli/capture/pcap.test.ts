import { expect, it } from 'vitest';
import { countPackets } from './pcap.ts';
import { pcapOf } from './testing/pcap.ts';

const TIMES = [1_700_000_000_123, 1_700_000_000_500, 1_700_000_001_007];
const EXPECTED = { packets: 3, first: TIMES[0], last: TIMES[2] };

it.each([[{}], [{ isBigEndian: true }], [{ isNano: true }], [{ isBigEndian: true, isNano: true }]])(
  'counts packets and reads their times: %j',
  async (format) => expect(await countPackets([pcapOf(TIMES, format)])).toEqual(EXPECTED),
);

it.each([1, 7, 24, 100])('in pieces of %i bytes', async (size) => {
  const file = pcapOf(TIMES);
  const pieces = Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
    file.subarray(index * size, (index + 1) * size),
  );
  expect(await countPackets(pieces)).toEqual(EXPECTED);
});

it('a packet that the end has cut off does not count', async () => {
  const file = pcapOf(TIMES);
  expect(await countPackets([file.subarray(0, file.length - 1)])).toMatchObject({ packets: 2, last: TIMES[1] });
  expect(await countPackets([pcapOf([])])).toEqual({ packets: 0, first: undefined, last: undefined });
  expect(await countPackets([])).toMatchObject({ packets: 0 });
});

it('what is no capture file is refused', async () =>
  await expect(countPackets([Buffer.alloc(100, 1)])).rejects.toThrow('not a capture file'));
