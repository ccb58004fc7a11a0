import { describe, expect, it } from 'vitest';
import { annotationRoom } from './annotation-room.ts';
import { attachedKeys, selectedKeys } from './attached-keys.ts';

describe('the keys that count', () => {
  it.each([
    ['the default network and its namespace', ['default', 'ns/a', 'ns/gone'], [], ['default', 'ns/a', 'ns/gone']],
    ['of its namespace 32 attachments of a NAD', ['ns/a/31', 'ns/a/32', 'ns/a/99'], [], ['ns/a/31']],
    ['nothing that is no attachment', ['ns/a/x', 'ns/a/01', 'ns/a/0', 'ns/a/1/2', 'nsx/a'], [], []],
    ['of other namespaces what is selected', ['b/n', 'b/n/1', 'b/n/2', 'b/m'], ['b/n', 'b/n/1'], ['b/n', 'b/n/1']],
  ])('are those of %s', (_, annotated, selected, counting) => {
    expect(attachedKeys('ns', annotated, selected)).toEqual(counting);
  });

  it('are 32 of other namespaces when the selection cannot be read', () => {
    const foreign = Array.from({ length: 40 }, (_, n) => `b/n${n}`);
    expect(attachedKeys('ns', [...foreign, 'ns/a'], undefined)).toEqual([...foreign.slice(0, 32), 'ns/a']);
  });

  it('are unknown when the annotation cannot be read', () => {
    expect(attachedKeys('ns', undefined, ['b/n'])).toBeUndefined();
  });

  it('are selected by place', () => {
    expect(selectedKeys('n,b/n,n', 'ns/p')).toEqual(['ns/n', 'b/n', 'ns/n/1']);
    expect(selectedKeys('[{', 'ns/p')).toBeUndefined();
    expect(selectedKeys(undefined, 'ns/p')).toEqual([]);
  });
});

it.each([
  [0, undefined],
  [131_071, undefined],
  [131_072, 131_071],
  [262_143, 0],
])('an object with %i bytes of one value can have %s more', (length, room) => {
  expect(annotationRoom({ k: 'x'.repeat(length) })).toBe(room);
});

it('annotations are counted in bytes', () => {
  expect(annotationRoom({ k: 'ü'.repeat(80_000) })).toBe(262_144 - 160_001);
});
