import { describe, expect, it } from 'vitest';
import { INCIDENTS } from '../test/e2e/incidents/pages.ts';
import { comparable, normalized, readRecorded } from '../test/e2e/incidents/recorded.ts';
import { incidentSections } from './operations-docs.ts';

const PAGE = { id: 'mtu', title: 'The MTU', symptom: 'hangs.', cause: 'a link.', remedy: 'raise it.' };
const shown = (lines: number) => [
  { command: 'udnctl problems', output: Array.from({ length: lines }, (_, index) => `line ${index}`) },
];

describe('the page of an incident', () => {
  it('has the output between the symptom and what to do', () => {
    expect(incidentSections([PAGE], { mtu: shown(2) })).toBe(
      '## The MTU\n\nSymptom: hangs.\n\n```\n$ udnctl problems\nline 0\nline 1\n```\n\nCause: a link.\n\nTo do: raise it.',
    );
  });

  it('is cut where it is long, and shows that', () => {
    expect(incidentSections([PAGE], { mtu: shown(20) })).toMatch(/line 7\n…\n```/);
  });

  it('is refused without output', () => {
    expect(() => incidentSections([PAGE], {})).toThrow('nothing is recorded of mtu');
  });
});

describe('a record', () => {
  it('has output of every incident, with the root cause in the first line', () => {
    const recorded = readRecorded();
    expect(Object.keys(recorded)).toEqual(INCIDENTS.map(({ id }) => id));
    for (const [id, all] of Object.entries(recorded)) {
      for (const { output } of all) expect(output[0]?.length, id).toBeGreaterThan(20);
    }
  });

  it('has no time, and nothing of the kernel or of another incident', () => {
    const output = [
      'error    ovn-northd has not processed configuration 14 since 2026-11-29T10:00:00.123Z  [northd-not-processing]',
      '         → restart it',
      'warning  nftables of this node was found changed, the last time at 22:48:39Z  [changed-by-others]',
      '         → find the program that changes it',
      'info     this kernel has no VRF (CONFIG_NET_VRF)  [kernel-lacks]',
      '         → docs/node.md says what works without it',
      '',
    ].join('\n');
    const first =
      'error    ovn-northd has not processed configuration 21 since 2026-01-01T12:00:00Z  [northd-not-processing]';
    expect(normalized('ovn-northd', output)).toEqual([first, '         → restart it']);
    expect(normalized('nftables', output)[2]).toBe(
      'warning  nftables of this node was found changed, the last time at 12:00:00Z  [changed-by-others]',
    );
  });

  it('is compared without numbers', () => {
    expect(comparable('pod full/p5 is not ready: 3 objects')).toBe(comparable('pod full/p6 is not ready: 12 objects'));
    expect(comparable('a')).not.toBe(comparable('b'));
  });
});
