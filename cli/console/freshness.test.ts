import { expect, it } from 'vitest';
import { freshnessOf } from './page/freshness.ts';
import type { ConsoleModel, SourceState } from './types.ts';

const NOW = 1_000_000;
const live: SourceState = { resource: 'pods', state: 'live', since: 0, heardAt: NOW - 3_000 };
const lost: SourceState = {
  resource: 'nodes',
  state: 'lost',
  since: 0,
  heardAt: NOW - 90_000,
  message: 'connection refused',
};
const fine: ConsoleModel = { networks: [], nodes: [], problems: [], notes: [] };
const error = { severity: 'error', cause: 'c', messages: ['m', 'n'], count: 2 } as const;

const textOf = (input: Partial<Parameters<typeof freshnessOf>[0]>): string[] => {
  const { connection, summary } = freshnessOf({ pulse: undefined, lost: undefined, model: undefined, ...input });
  return [`${connection.kind}: ${connection.text}`, `${summary.kind}: ${summary.text}`];
};

it.each([
  ['nothing came', {}, ['doubt: Connecting', 'doubt: Unknown: nothing has been read yet.']],
  [
    'all is live',
    { pulse: { now: NOW, sources: [live] }, model: fine },
    ['good: Live; API server last heard 3 s ago', 'good: No problems are reported.'],
  ],
  [
    'there are errors',
    { pulse: { now: NOW, sources: [live] }, model: { ...fine, problems: [error] } },
    ['good: Live; API server last heard 3 s ago', 'bad: 2 errors, 0 warnings.'],
  ],
  [
    'something may not be read',
    { pulse: { now: NOW, sources: [live] }, model: { ...fine, notes: ['nodes: you may not list them'] } },
    [
      'good: Live; API server last heard 3 s ago',
      'doubt: 0 errors, 0 warnings, as far as could be read: something is not shown.',
    ],
  ],
  [
    'a watch is lost',
    { pulse: { now: NOW, sources: [live, lost] }, model: fine },
    [
      'bad: API server: 1 of 2 watches lost (nodes: connection refused); last heard 90 s ago',
      'doubt: Unknown: the connection is lost. Before that: 0 errors, 0 warnings.',
    ],
  ],
  [
    'the console is gone',
    { pulse: { now: NOW, sources: [live] }, model: fine, lost: 'the console does not answer' },
    [
      'bad: Connection lost: the console does not answer; what is shown is older than 3 s',
      'doubt: Unknown: the connection is lost. Before that: 0 errors, 0 warnings.',
    ],
  ],
  [
    'not all was read',
    { pulse: { now: NOW, sources: [live, { ...live, state: 'loading' as const }] } },
    ['doubt: Reading: 1 of 2 kinds are missing', 'doubt: Unknown: nothing has been read yet.'],
  ],
])('where %s', (_, input, expected) => expect(textOf(input)).toEqual(expected));

it('no state of a watch but a live one lets the page say that no problem is reported', () => {
  for (const state of ['loading', 'lost'] as const) {
    expect(textOf({ pulse: { now: NOW, sources: [live, { ...live, state }] }, model: fine })[1]).toMatch(
      /^doubt: Unknown/,
    );
  }
});
