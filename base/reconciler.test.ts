import { expect, it } from 'vitest';
import { DONE, type Status, worst } from './reconciler.ts';

const FAILED: Status = { kind: 'failed', message: 'EINVAL' };
const WAITING: Status = { kind: 'waiting', message: 'a link' };
const PENDING: Status = { kind: 'pending' };

it.each<[string, readonly Status[], Status]>([
  ['nothing is done', [], DONE],
  ['what failed counts, wherever it is', [DONE, FAILED, WAITING, PENDING], FAILED],
  ['what waits for others is worse than what is next', [PENDING, WAITING], WAITING],
  ['of equal ones the first', [FAILED, { kind: 'failed', message: 'EPERM' }], FAILED],
  [
    'of equal ones that which says why',
    [PENDING, { kind: 'pending', message: 'away' }],
    { ...PENDING, message: 'away' },
  ],
  ['also what is done may say something', [DONE, { ...DONE, message: 'unused' }], { ...DONE, message: 'unused' }],
])('%s', (_, statuses, expected) => expect(worst(statuses)).toEqual(expected));
