import { describe, expect, it } from 'vitest';
import { OwnWrites } from './own-writes.ts';
import type { BundleOp } from './switch-client.ts';

const state = (actions: string) => ({ cookie: '0x1', actions });
const add = (actions: string): BundleOp => ({ op: 'addFlow', flow: { identity: 'f', ...state(actions) } });

describe('our own writes', () => {
  it('are distinguished from those of others, before and after', () => {
    const own = new OwnWrites();
    own.expect([add('a')]);
    expect(own.classify('f', undefined)).toBe('before');
    expect(own.classify('f', state('a'))).toBe('own');
    expect(own.classify('f', state('a'))).toBe('foreign');
    expect(own.classify('g', undefined)).toBe('foreign');
  });

  it('are expected in their order', () => {
    const own = new OwnWrites();
    own.expect([add('a'), { op: 'deleteFlow', identity: 'f' }]);
    own.expect([add('b')]);
    expect(own.classify('f', state('a'))).toBe('before');
    expect(own.classify('f', undefined)).toBe('before');
    expect(own.classify('f', state('b'))).toBe('own');
  });

  it('are not expected when they were refused', () => {
    const own = new OwnWrites();
    own.expect([add('a'), add('b')]);
    own.forget([add('a'), add('b')]);
    expect(own.isExpecting('f')).toBe(false);
  });

  it('are not expected for ever', () => {
    const own = new OwnWrites();
    own.expect([add('a')]);
    own.onRead();
    expect(own.isExpecting('f')).toBe(true);
    own.onRead();
    expect(own.isExpecting('f')).toBe(false);
  });
});
