import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { eventStream } from './event-stream.ts';
import type { NetworkDetail } from './types.ts';

class Reader extends EventEmitter {
  readonly got: string[] = [];
  writableNeedDrain = false;
  write(text: string): boolean {
    this.got.push(text);
    return true;
  }
}

const detail = (network: string): NetworkDetail => ({
  ...{ network, pods: [], morePods: 0 },
  matrix: { network, from: [], to: [], cells: [], notes: [] },
});

const connected = () => {
  const reader = new Reader();
  return { reader, send: eventStream(reader as unknown as Parameters<typeof eventStream>[0]) };
};

it('sends events as they come; a line end of a name ends no event', () => {
  const { reader, send } = connected();
  send('detail', detail('a\n\nevent: model\ndata: {}'));
  expect(reader.got).toHaveLength(1);
  expect(reader.got[0]).toMatch(/^event: detail\ndata: [^\n]*\n\n$/);
});

it('a page that does not read gets the latest of each event, once, when it does', () => {
  const { reader, send } = connected();
  reader.writableNeedDrain = true;
  for (let round = 0; round < 1_000; round += 1) send('pulse', { now: round, sources: [] });
  send('detail', null);
  expect(reader.got).toEqual([]);
  reader.writableNeedDrain = false;
  reader.emit('drain');
  expect(reader.got).toEqual(['event: pulse\ndata: {"now":999,"sources":[]}\n\n', 'event: detail\ndata: null\n\n']);
  reader.emit('drain');
  expect(reader.got).toHaveLength(2);
});
