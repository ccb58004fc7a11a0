import { describe, expect, it } from 'vitest';
import { describeState, isMet, parseCondition } from './conditions.ts';

const object = {
  status: {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: 'False', reason: 'NoSandbox', message: 'no network' }],
  },
};

describe('isMet', () => {
  it.each([
    ['ready', object, false],
    ['ready', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, true],
    ['ready', undefined, false],
    ['condition=Ready=False', object, true],
    ['condition=ready=false', object, true],
    ['condition=Other', object, false],
    ['deleted', object, false],
    ['deleted', undefined, true],
    ['ready', { status: { conditions: 'nonsense' } }, false],
    ['ready', {}, false],
  ])('%s of %j is %s', (text, value, expected) => expect(isMet(parseCondition(text), value)).toBe(expected));
});

it.each(['', 'Ready', 'condition=', 'condition=a=b=c', 'jsonpath={.a}'])('%j is refused', (text) => {
  expect(() => parseCondition(text)).toThrow(expect.objectContaining({ code: 'ERR_SANDBOX_USAGE' }));
});

it.each([
  [object, 'Pending, Ready=False (NoSandbox: no network)'],
  [{}, 'it has no conditions'],
  [undefined, 'it does not exist'],
])('describes %j', (value, expected) => expect(describeState(value)).toBe(expected));
