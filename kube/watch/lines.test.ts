import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WatchStream } from '../types.ts';
import { createLineFramer } from './lines.ts';
import { parseWatchLine, watchEvents } from './watch-events.ts';

async function* chunks(...texts: string[]) {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

describe('createLineFramer', () => {
  it('finds the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const framer = createLineFramer();
        const found: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          found.push(...framer.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(found).toEqual(lines);
        expect(framer.pending).toBe(0);
      }),
    );
  });

  it('keeps what is not complete', () => {
    const framer = createLineFramer();
    expect(framer.push(Buffer.from('one\ntw'))).toEqual(['one']);
    expect(framer.pending).toBe(2);
    expect(framer.push(Buffer.from('o\n\n'))).toEqual(['two', '']);
  });

  it('refuses a line without end', () => {
    const framer = createLineFramer(10);
    framer.push(Buffer.from('0123456789'));
    expect(() => framer.push(Buffer.from('0'))).toThrow(expect.objectContaining({ code: 'ERR_KUBE_PROTOCOL' }));
  });
});

describe('parseWatchLine', () => {
  it('reads events', () => {
    expect(parseWatchLine('{"type":"ADDED","object":{"kind":"Pod"}}')).toEqual({
      type: 'ADDED',
      object: { kind: 'Pod' },
    });
    expect(parseWatchLine('  ')).toBeUndefined();
  });

  it.each(['{', '[]', '{"type":"ADDED"}', '{"type":"OTHER","object":{}}', '{"type":"ADDED","object":[]}', 'null'])(
    'refuses %s',
    (line) => expect(() => parseWatchLine(line)).toThrow(expect.objectContaining({ code: 'ERR_KUBE_PROTOCOL' })),
  );
});

const readAll = async (stream: WatchStream): Promise<string[]> => {
  const types: string[] = [];
  for await (const { type } of watchEvents(stream)) types.push(type);
  return types;
};

describe('watchEvents', () => {
  it('gives events until the stream ends', async () => {
    const stream = chunks('{"type":"ADDED","obj', 'ect":{"n":1}}\n{"type":"DELETED","object":{"n":1}}\n');
    expect(await readAll(stream)).toEqual(['ADDED', 'DELETED']);
  });

  it('distinguishes a stream that was cut from one that ended', async () => {
    const cut = readAll(chunks('{"type":"ADDED","object":{}}\n{"type'));
    await expect(cut).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
  });
});
