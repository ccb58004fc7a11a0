import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { describeDifferences, legend, type Paint, renderMatrix, summary } from './matrix.ts';
import { planProbes } from './plan.ts';
import { answerOf, type Behaviour, blueB, isolated, outcomesOf, PODS, plainA, redA, redB, SILENCE } from './testing.ts';

const probes = planProbes(PODS, 'run');
const measured = (behaviour: Behaviour) => evaluate(PODS, probes, outcomesOf(probes, behaviour));
const letters: Paint = (style, text) => (style === 'good' || style === 'bad' ? `${style[0]}${text}` : text);

const broken: Behaviour = (probe) => {
  const { from, to, protocol, role } = probe;
  if (role === 'primary' && from === redA.key && to === redB.key && protocol === 'tcp')
    return { seenBy: [], answer: SILENCE };
  if (role === 'primary' && from === redA.key && to === blueB.key && protocol === 'udp')
    return { seenBy: [redB, blueB], answer: answerOf(probe, redB) };
  if (role === 'infrastructure-locked' && from === plainA.key && to === redA.key)
    return { seenBy: [redA], answer: answerOf(probe, redA) };
  return isolated(probe);
};

describe('renderMatrix', () => {
  it('shows who reaches whom, grouped by network', () => {
    expect(renderMatrix(PODS, measured(isolated))).toBe(
      [
        '                                     defa…  red    blue',
        '                                      1  2   3  4   5  6',
        'default    plain/plain-a  node-1   1 -- ✓   ·· ··  ·· ··',
        'default    plain/plain-b  node-2   2 ✓  --  ·· ··  ·· ··',
        '',
        'red_red    red/red-a      node-1   3 ·  ·   -- ✓·  ·· ··',
        'red_red    red/red-b      node-2   4 ·  ·   ✓· --  ·· ··',
        '',
        'blue_blue  blue/blue-a    node-1   5 ·  ·   ·· ··  -- ✓·',
        'blue_blue  blue/blue-b    node-2   6 ·  ·   ·· ··  ✓· --',
      ].join('\n'),
    );
  });

  it('marks every cell that differs, for the address that differs', () => {
    const lines = renderMatrix(PODS, measured(broken)).split('\n');
    expect(lines[2]).toBe('default    plain/plain-a  node-1   1 -- ✓   ·✗ ··  ·· ··');
    expect(lines[5]).toBe('red_red    red/red-a      node-1   3 ·  ·   -- ✗·  ·· ✗·');
  });

  it('paints what is good and what is bad', () => {
    const lines = renderMatrix(PODS, measured(broken), letters).split('\n');
    expect(lines[2]).toContain('-- g✓   ·b✗ ··');
    expect(legend(letters)).toMatch(/g✓ reached .* b✗ something else/s);
  });

  it('has a sign for a pair of which some is expected to work', () => {
    const results = measured(isolated).map((result) =>
      result.from === redA.key && result.to === redB.key && result.protocol === 'udp'
        ? { ...result, expected: false, observed: false }
        : result,
    );
    expect(renderMatrix(PODS, results).split('\n')[5]).toContain('-- ~·');
  });
});

describe('summary', () => {
  it('counts', () => {
    expect(summary(measured(isolated))).toBe(
      '150 probes: 18 should arrive and 18 did, 132 should not and 0 did; 0 differences',
    );
    expect(summary(measured(broken))).toBe(
      '150 probes: 18 should arrive and 17 did, 132 should not and 4 did; 5 differences',
    );
  });
});

describe('describeDifferences', () => {
  it('says everything about each', () => {
    expect(describeDifferences(measured(isolated))).toEqual([]);
    expect(describeDifferences(measured(broken))).toEqual([
      'plain/plain-a (default) → red/red-a (default) at its infrastructure-locked address 10.128.0.3, IPv4 icmp: should not be reached and was; the pod saw it, answered',
      'plain/plain-a (default) → red/red-a (default) at its infrastructure-locked address 10.128.0.3, IPv4 tcp: should not be reached and was; the pod saw it, answered by red-a',
      'plain/plain-a (default) → red/red-a (default) at its infrastructure-locked address 10.128.0.3, IPv4 udp: should not be reached and was; the pod saw it, answered by red-a',
      'red/red-a (red_red) → red/red-b (red_red) at its primary address 10.100.1.3, IPv4 tcp: should be reached and was not; the pod did not see it, no answer (timed out)',
      'red/red-a (red_red) → blue/blue-b (blue_blue) at its primary address 10.100.1.3, IPv4 udp: should not be reached and was; the pod saw it, answered by red-b',
    ]);
  });
});
