import { describe, expect, it } from 'vitest';
import { BENCHMARKS, benchmarksNamed } from './catalog.ts';
import { GOALS } from './report/goals.ts';

const namesOf = (beginnings: readonly string[]): string[] => benchmarksNamed(beginnings).flatMap(({ names }) => names);

it('every benchmark has a goal, and every goal a benchmark', () => {
  expect(BENCHMARKS.flatMap(({ names }) => names).sort()).toEqual(Object.keys(GOALS).sort());
});

describe('benchmarksNamed', () => {
  it('gives all without a name but those that are to be named', () => {
    expect(benchmarksNamed([])).toEqual(BENCHMARKS.filter(({ onRequest }) => onRequest !== true));
    expect(namesOf([])).not.toContain('ovn/settings/no-cache/rss');
    expect(namesOf(['ovn/settings/no-cache/rss'])).toContain('ovn/settings/no-cache/rss');
  });

  it('gives those on request, too, when all are wanted', () => {
    expect(benchmarksNamed([], true)).toEqual(BENCHMARKS);
  });

  it('takes names and their beginnings', () => {
    expect(namesOf(['shim', 'ovsdb/updates'])).toEqual(['shim/version', 'ovsdb/updates', 'shim/rss']);
    expect(namesOf(['cni-add/burst-50'])).toEqual(['cni-add/burst-50', 'cni-add/burst-50-strict']);
  });

  it('refuses what is none', () => expect(() => benchmarksNamed(['shim', 'shin'])).toThrow('"shin" is no benchmark'));
});
