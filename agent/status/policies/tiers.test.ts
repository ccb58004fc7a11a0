import { describe, expect, it } from 'vitest';
import { both, EVERYTHING, type Ports } from '../../../net/port-regions.ts';
import type { AdminRuleFact, PolicyPorts } from '../../model/policies/facts.ts';
import { type AdminCandidate, decide, l4Region } from './tiers.ts';

type Rule = AdminCandidate['rule'];

const rule = (
  tier: Rule['tier'],
  priority: number,
  action: AdminRuleFact['action'],
  l4?: PolicyPorts,
): AdminCandidate => ({
  id: `${tier}-${priority}`,
  rule: { tier, priority, action, l4 },
});
const tcp = (...ports: (number | [number, number])[]): PolicyPorts => ({ protocol: 'tcp', ports });
const HTTP: readonly Ports[] = [{ protocol: 'tcp', first: 80, last: 80 }];

describe('a packet', () => {
  it.each([
    ['nothing', [], undefined, true, []],
    ['a denial of administrators', [rule('admin', 9, 'deny')], [EVERYTHING], false, ['admin-9']],
    ['an allowance of theirs', [rule('admin', 9, 'allow')], [], true, ['admin-9']],
    ['the higher one', [rule('admin', 8, 'deny'), rule('admin', 9, 'allow')], undefined, true, ['admin-9']],
    ['one for another port', [rule('admin', 9, 'deny', tcp(81))], undefined, true, []],
    ['a pass', [rule('admin', 9, 'pass'), rule('admin', 8, 'deny')], [], false, ['admin-9']],
    ['a pass to what allows', [rule('admin', 9, 'pass'), rule('admin', 8, 'deny')], HTTP, true, ['admin-9']],
    [
      'a pass to the baseline',
      [rule('admin', 9, 'pass'), rule('baseline', 9, 'deny')],
      undefined,
      false,
      ['admin-9', 'baseline-9'],
    ],
    ['a baseline of a pod that is isolated', [rule('baseline', 9, 'deny')], HTTP, true, []],
    ['a pass of the baseline', [rule('baseline', 9, 'pass')], undefined, true, ['baseline-9']],
  ] as const)('meets %s', (_, admin, networkPolicies, isLet, hits) => {
    const decided = decide({ asked: HTTP, admin, networkPolicies });
    expect(decided.lets).toEqual(isLet ? HTTP : []);
    expect(decided.admin.map(({ id }) => id)).toEqual(hits);
  });
});

/** One packet after the other, as OVN does it, is the same as all at once. */
it('says of all ports what it says of each', () => {
  const terms: (PolicyPorts | undefined)[] = [undefined, tcp(80), tcp([79, 82]), { protocol: 'udp' }, tcp(81, 443)];
  const actions = ['allow', 'deny', 'pass'] as const;
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const pick = <Value>(values: readonly Value[]): Value => values[next(values.length)] as Value;
  for (let round = 0; round < 200; round += 1) {
    const admin = Array.from({ length: next(7) }, (_, index) =>
      rule(pick(['admin', 'baseline']), 100 - index, pick(actions), pick(terms)),
    );
    const networkPolicies = pick([undefined, [], l4Region(pick(terms))]);
    const all = decide({ asked: [EVERYTHING], admin, networkPolicies }).lets;
    for (const port of [1, 79, 80, 81, 82, 443]) {
      for (const protocol of ['tcp', 'udp', 'other'] as const) {
        const asked: Ports[] = [{ protocol, first: port, last: port }];
        expect(decide({ asked, admin, networkPolicies }).lets).toEqual(both(all, asked));
      }
    }
  }
});
