import { describe, expect, it } from 'vitest';
import { FactStore } from '../../model/fact-store.ts';
import { TrackedView } from '../../model/tracked-view.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { type ReadFailure, Watched } from './watched.ts';

const setUp = () => {
  const facts = new FactStore();
  const heard: (ReadFailure | undefined)[] = [];
  const fails = { now: false };
  const start = () =>
    new Watched(
      facts,
      new TrackedView(facts, new TestCluster('n1').settings),
      (view) => {
        const mode = view.gatewayMode('n1');
        if (fails.now) throw new RangeError('deep');
        return mode;
      },
      (failure) => heard.push(failure),
    );
  return { facts, heard, fails, start };
};

describe('a value that is watched', () => {
  it('is not read again when another reader of the same change has stopped it', () => {
    const { facts, heard, start } = setUp();
    const view = new TrackedView(facts, new TestCluster('n1').settings);
    let later: Watched<unknown> | undefined;
    const first = new Watched(
      facts,
      view,
      (known) => known.gatewayMode('n1'),
      () => later?.stop(),
    );
    later = start();
    facts.set('gatewayMode', 'n1', 'shared');
    facts.set('gatewayMode', 'n1', 'local');
    expect([first.value, heard]).toEqual(['local', []]);
    first.stop();
  });

  it('is kept by a read that fails, and is read again when what was looked at changes', () => {
    const { facts, heard, fails, start } = setUp();
    facts.set('gatewayMode', 'n1', 'shared');
    const watched = start();
    fails.now = true;
    expect(() => facts.set('gatewayMode', 'n1', 'local')).not.toThrow();
    expect([watched.value, watched.failure]).toEqual(['shared', { error: new RangeError('deep') }]);
    fails.now = false;
    facts.set('gatewayMode', 'n1', 'shared');
    expect([watched.value, watched.failure]).toEqual(['shared', undefined]);
    // Though the value is the one of before: whoever closed something by the failure opens it.
    expect(heard).toEqual([{ error: new RangeError('deep') }, undefined]);
    facts.set('gatewayMode', 'n1', 'shared');
    expect(heard).toHaveLength(2);
  });

  it('leaves nothing behind when the first read fails', () => {
    const { facts, heard, fails, start } = setUp();
    fails.now = true;
    expect(start).toThrow('deep');
    facts.set('gatewayMode', 'n1', 'local');
    expect(heard).toEqual([]);
  });
});
