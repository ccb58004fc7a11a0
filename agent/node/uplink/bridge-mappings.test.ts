import { describe, expect, it } from 'vitest';
import { mappedBridge, mergeMappings } from './bridge-mappings.ts';
import { mappingOperations } from './mapping-operations.ts';

describe('bridge mappings', () => {
  it.each([
    [undefined, 'br-ex', 'physnet:br-ex'],
    ['other:br-other', 'br-ex', 'other:br-other,physnet:br-ex'],
    ['physnet:br-old,other:br-other', 'br-ex', 'other:br-other,physnet:br-ex'],
    [' other:br-other , physnet:br-ex', 'br-ex', 'other:br-other,physnet:br-ex'],
    ['other:br-other,physnet:br-ex', undefined, 'other:br-other'],
    ['physnet:br-ex', undefined, undefined],
    ['physnet2:br-2', undefined, 'physnet2:br-2'],
  ])('%s with %s', (before, bridge, after) => {
    const merged = mergeMappings(before, bridge);
    expect(merged).toBe(after);
    expect(mappedBridge(merged)).toBe(bridge);
    expect(mergeMappings(merged, bridge)).toBe(merged);
  });

  it('are written only when they differ', () => {
    expect(mappingOperations({ 'ovn-bridge-mappings': 'a:b,physnet:br-ex' }, 'br-ex')).toEqual([]);
    expect(mappingOperations({}, undefined)).toEqual([]);
    expect(mappingOperations({ 'ovn-bridge-mappings': 'a:b' }, 'br-ex')).toMatchObject([
      { mutations: [['external_ids', 'delete', ['map', [['ovn-bridge-mappings', 'a:b']]]]] },
      { mutations: [['external_ids', 'insert', ['map', [['ovn-bridge-mappings', 'a:b,physnet:br-ex']]]]] },
    ]);
  });
});
