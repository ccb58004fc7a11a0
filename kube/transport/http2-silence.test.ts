import { expect, it } from 'vitest';
import { actionOn, type Silence, silenceAt } from './http2-silence.ts';

/** What is done at each tick, by how many bytes there have been. */
const actionsOf = (counts: readonly number[]): string => {
  let silence: Silence = { bytes: 0, ticks: 0 };
  return counts
    .map((bytes) => {
      silence = silenceAt(silence, bytes);
      return actionOn(silence);
    })
    .join(' ');
};

it.each([
  ['waits while bytes come', [1, 2, 3, 4], 'wait wait wait wait'],
  ['asks after half a minute without', [5, 5, 5], 'wait wait ping'],
  ['takes whatever comes for an answer', [5, 5, 5, 6, 6], 'wait wait ping wait wait'],
  ['ends when there is none', [5, 5, 5, 5], 'wait wait ping end'],
  ['asks also when there was never a byte', [0, 0, 0], 'wait ping end'],
])('%s', (_, counts, actions) => expect(actionsOf(counts)).toBe(actions));
