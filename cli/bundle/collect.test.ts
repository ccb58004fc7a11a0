import { expect, it } from 'vitest';
import { collect } from './collect.ts';

const textOf = (bundle: Awaited<ReturnType<typeof collect>>, path: string): string | undefined => {
  const entry = bundle.entries.find((one) => one.path === path);
  return entry?.kind === 'file' ? Buffer.from(entry.content).toString() : undefined;
};

it('has what could be had, and an index of all that was asked for', async () => {
  const bundle = await collect('b', [
    { path: 'nodes/n1/diff.txt', read: async () => ({ text: 'one difference', note: 'exit status 1' }) },
    { path: 'logs/a.log', read: () => Promise.reject(new Error('forbidden:\nBearer abcdefghijk')) },
    { path: 'cluster/nodes.yaml', read: async () => 'psk=swordfish' },
  ]);
  expect(bundle.missing).toBe(1);
  expect(bundle.entries.map(({ path }) => path)).toEqual([
    'b/index.txt',
    'b/nodes/n1/diff.txt',
    'b/cluster/nodes.yaml',
  ]);
  expect(textOf(bundle, 'b/cluster/nodes.yaml')).toBe('psk=[left out]');
  expect(textOf(bundle, 'b/index.txt')).toBe(
    [
      'ok       cluster/nodes.yaml  14 bytes',
      'MISSING  logs/a.log  forbidden: Bearer [left out]',
      'ok       nodes/n1/diff.txt  14 bytes exit status 1',
      '',
    ].join('\n'),
  );
});

it('reads a few at once', async () => {
  let running = 0;
  let most = 0;
  const read = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return '';
  };
  const { entries } = await collect(
    'b',
    Array.from({ length: 40 }, (_, index) => ({ path: `${index}`, read })),
  );
  expect(entries).toHaveLength(41);
  expect(most).toBe(8);
});
