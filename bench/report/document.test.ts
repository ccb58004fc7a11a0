import { expect, it } from 'vitest';
import { benchDocument, formatMarkdown, formatTable, withResults } from './document.ts';
import { GOALS } from './goals.ts';
import { benchResult } from './result.ts';

const results = [
  benchResult({ name: 'shim/rss', value: 512, unit: 'KiB', reference: 1, rounds: 20 }),
  {
    ...benchResult({ name: 'cni-add/default-strict/p50', value: 13.25489, unit: 'ms', reference: 10, rounds: 200 }),
    ratios: [1.21, 1.325],
  },
];
const document = benchDocument({ commit: 'abc', machine: '2 cores', runs: 2, minutes: 35 }, results);

it('a result has the ratio, and no more digits than mean something', () => {
  expect(results[1]).toEqual({
    name: 'cni-add/default-strict/p50',
    value: 13.25,
    unit: 'ms',
    reference: 10,
    ratio: 1.325,
    rounds: 200,
    ratios: [1.21, 1.325],
  });
});

it('the document has the commit, the machine and the results in the order of the goals', () => {
  expect(document).toEqual({
    commit: 'abc',
    machine: '2 cores',
    runs: 2,
    minutes: 35,
    results: [results[1], results[0]],
  });
});

it('the table says which goals are met', () => {
  expect(formatTable(document.results)).toBe(
    [
      'benchmark                   value  compared with  unit  ratio    goal          rounds  ratios',
      'cni-add/default-strict/p50  13.25          10.00  ms     1.32   ≤ 1.3  missed     200  1.21 1.32',
      'shim/rss                      512           1.00  KiB     512  ≤ 1024  met         20',
      '',
    ].join('\n'),
  );
});

it('so does the one for the documentation', () => {
  expect(formatMarkdown(document)).toBe(
    [
      'Commit abc, 2 cores. Each was measured 2 times, in 35 minutes together.',
      '',
      '| benchmark                  | value | compared with | unit | ratio |   goal |        | rounds | ratios    |',
      '| -------------------------- | ----: | ------------: | ---- | ----: | -----: | ------ | -----: | --------- |',
      '| cni-add/default-strict/p50 | 13.25 |         10.00 | ms   |  1.32 |  ≤ 1.3 | missed |    200 | 1.21 1.32 |',
      '| shim/rss                   |   512 |          1.00 | KiB  |   512 | ≤ 1024 | met    |     20 |           |',
      '',
    ].join('\n'),
  );
});

it('a ratio that just meets its goal is met', () => {
  for (const [name, goal] of Object.entries(GOALS)) {
    if (goal === undefined) continue;
    const result = benchResult({ name, value: goal, unit: '', reference: 1, rounds: 1 });
    expect(formatTable([result])).toContain(' met ');
  }
});

it('results take the place of earlier ones in a page', () => {
  const page = (results: string): string =>
    `# Title\n\n<!-- results -->\n\n${results}\n<!-- end of results -->\n\nMore.\n`;
  expect(withResults(page('old\n'), 'new\n')).toBe(page('new\n'));
  expect(() => withResults('# Title\n', 'new')).toThrow('has no place for results');
});
