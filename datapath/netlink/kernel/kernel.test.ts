import { describe, expect, it } from 'vitest';
import { fakeHarness } from '../harness.suite.ts';
import { coalesced } from './coalesced.ts';
import { hostSuite } from './host.suite.ts';
import { kernelSuite } from './kernel.suite.ts';

kernelSuite('the fake', fakeHarness);
hostSuite('the fake', fakeHarness);

describe('coalesced', () => {
  /** Calls that end when the test says so. */
  const controlled = () => {
    const ends: ((error?: Error) => void)[] = [];
    const call = () =>
      new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    return { ends, ask: coalesced(call) };
  };

  it('serves all who ask during a call with one more', async () => {
    const { ends, ask } = controlled();
    const first = ask();
    // This asks when the first call has ended and the second has not begun yet.
    const rest = [first.then(ask), ask(), ask()];
    expect(ends.length).toBe(1);
    ends[0]!();
    await first;
    expect(ends.length).toBe(2);
    ends[1]!();
    await Promise.all(rest);
    expect(ends.length).toBe(2);
  });

  it('goes on after a failure, which only those see whom it serves', async () => {
    const { ends, ask } = controlled();
    const first = ask();
    const second = ask();
    ends[0]!(new Error('no'));
    await expect(first).rejects.toThrow('no');
    ends[1]!();
    await second;
    const third = ask();
    ends[2]!();
    await third;
  });
});
