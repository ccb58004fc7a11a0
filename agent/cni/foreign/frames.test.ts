import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatRun, OutcomeReader } from './frames.ts';

it('a call has the name, the variables and the configuration', () => {
  const call = { type: 'bridge', env: { CNI_COMMAND: 'ADD', CNI_IFNAME: 'net1' }, stdin: '{"é":1}' };
  expect(formatRun(call, 30_000).toString()).toBe(
    'udn-cni/1 run 30000 39 8\nbridge\0CNI_COMMAND=ADD\0CNI_IFNAME=net1\0{"é":1}',
  );
  expect(() => formatRun({ ...call, stdin: 'x'.repeat(1 << 20) }, 1)).toThrow('is too long');
});

it('an outcome survives any chunking', () => {
  const bytes = fc.string({ unit: 'grapheme', maxLength: 300 });
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(400), { maxLength: 8 }), (stdout, cuts) => {
      const all = Buffer.from(`udn-cni/1 ran exit 3 ${Buffer.byteLength(stdout)}\n${stdout}`);
      const points = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
      const reader = new OutcomeReader();
      const read = points.flatMap((from, i) => {
        const chunk = all.subarray(from, points[i + 1] ?? from);
        return chunk.length === 0 ? [] : [reader.push(chunk)];
      });
      expect(read.at(-1)).toEqual({ how: 'exit', number: 3, stdout });
      expect(read.slice(0, -1).every((one) => one === undefined)).toBe(true);
    }),
  );
});

it.each([
  'udn-cni/1 0 2\n{}',
  'udn-cni/1 ran away 0 0\n',
  'udn-cni/1 ran exit 0 1048577\n',
  'udn-cni/1 ran exit 0 1\n{}',
  'x'.repeat(64),
])('%j is none', (text) => {
  expect(() => new OutcomeReader().push(Buffer.from(text))).toThrow();
});
