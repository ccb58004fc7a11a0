import { describe, expect, it } from 'vitest';
import type { PolicyPorts } from '../../model/policies/facts.ts';
import { l4Rules, type NumberedPort } from './l4-rules.ts';

const tcp = (term?: NumberedPort['term']): NumberedPort => ({ protocol: 'tcp', ...(term !== undefined && { term }) });

describe('l4Rules', () => {
  it.each<[string, NumberedPort[], PolicyPorts[]]>([
    ['none', [], []],
    [
      'up to three are rules of their own',
      [tcp(81), tcp(80), { protocol: 'udp', term: 53 }],
      [
        { protocol: 'tcp', ports: [80] },
        { protocol: 'tcp', ports: [81] },
        { protocol: 'udp', ports: [53] },
      ],
    ],
    [
      'more are one per protocol',
      [tcp(1), tcp(5), tcp(3), { protocol: 'udp', term: 53 }],
      [
        { protocol: 'tcp', ports: [1, 3, 5] },
        { protocol: 'udp', ports: [53] },
      ],
    ],
    [
      'what is said twice counts once',
      [tcp(1), tcp(1), tcp([1, 1]), tcp([2, 4]), tcp([3, 9])],
      [
        { protocol: 'tcp', ports: [1] },
        { protocol: 'tcp', ports: [[2, 9]] },
      ],
    ],
    ['a protocol has all of its ports', [tcp(1), tcp()], [{ protocol: 'tcp' }]],
  ])('%s', (_, ports, want) => expect(l4Rules(ports)).toEqual(want));
});
