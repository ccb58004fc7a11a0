import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCondition, nextCondition } from './condition.ts';
import { type LabelSelector, matchesSelector } from './label-selector.ts';
import {
  cudnNetworkName,
  cudnOfNetworkName,
  nadKey,
  nadPrefix,
  networkPrefix,
  parseNadKey,
  udnNetworkName,
} from './names.ts';
import { compareByAge, metadataSchema } from './object.ts';
import { parseWith } from './parse.ts';
import { primaryNetworkOf } from './primary-network.ts';

describe('names', () => {
  it('of networks are those of the reference', () => {
    expect(udnNetworkName('ns-a', 'my-net')).toBe('ns-a_my-net');
    expect(cudnNetworkName('blue')).toBe('cluster_udn_blue');
    expect(cudnOfNetworkName('cluster_udn_blue')).toBe('blue');
    expect(cudnOfNetworkName('ns_blue')).toBeUndefined();
    expect(networkPrefix('ns-a_my-net')).toBe('ns.a_my.net_');
    expect(networkPrefix('cluster_udn_blue')).toBe('cluster_udn_blue_');
    expect(networkPrefix('default')).toBe('');
    expect(nadPrefix('namespace1/blue-net')).toBe('namespace1.blue.net_');
  });

  it('of NAD keys are read back', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/);
    fc.assert(
      fc.property(name, name, fc.nat(20), (namespace, nad, attachment) => {
        expect(parseNadKey(nadKey(namespace, nad, attachment))).toEqual({ namespace, name: nad, attachment });
      }),
    );
    for (const other of ['default', 'a/b/0', 'a/b/c', 'a/b/1/2', '/b']) expect(parseNadKey(other)).toBeUndefined();
  });
});

describe('label selector', () => {
  const labels = { team: 'a', tier: 'web' };
  const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
    matchExpressions: [{ key, operator, values }],
  });

  it.each([
    [{}, true],
    [{ matchLabels: { team: 'a' } }, true],
    [{ matchLabels: { team: 'b' } }, false],
    [expression('team', 'In', 'a', 'b'), true],
    [expression('x', 'In', 'a'), false],
    [expression('team', 'NotIn', 'a'), false],
    [expression('x', 'NotIn', 'a'), true],
    [expression('team', 'Exists'), true],
    [expression('team', 'DoesNotExist'), false],
    [expression('constructor', 'Exists'), false],
    [expression('toString', 'DoesNotExist'), true],
    [{ matchLabels: { team: 'a' }, ...expression('x', 'Exists') }, false],
  ])('%j', (selector, matches) => {
    expect(matchesSelector(selector, labels)).toBe(matches);
  });
});

describe('condition', () => {
  const ready = { type: 'NetworkCreated', status: 'True' as const, reason: 'Done', message: 'm' };

  it('keeps its transition time as long as the status stays', () => {
    const first = nextCondition(ready, [], 't1');
    expect(first.lastTransitionTime).toBe('t1');
    expect(nextCondition({ ...ready, message: 'other' }, [first], 't2').lastTransitionTime).toBe('t1');
    expect(nextCondition({ ...ready, status: 'False' }, [first], 't2').lastTransitionTime).toBe('t2');
    expect(hasCondition([first], ready)).toBe(true);
    expect(hasCondition([first], { ...ready, message: 'other' })).toBe(false);
  });
});

describe('primary network of a namespace', () => {
  const nad = (name: string, creationTimestamp: string, role = 'primary') => ({
    metadata: parseWith(metadataSchema, { name, namespace: 'ns', creationTimestamp }, 'x'),
    conf: { role } as never,
  });
  const label = { 'k8s.ovn.org/primary-user-defined-network': '' };

  it('is the default network without the label', () => {
    expect(primaryNetworkOf('ns', {}, [nad('a', '2026-01-01T00:00:00Z')])).toEqual({ kind: 'default' });
  });

  it('is missing with the label alone', () => {
    expect(primaryNetworkOf('ns', label, [nad('a', '2026-01-01T00:00:00Z', 'secondary')])).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('invalid primary network state for namespace "ns"'),
    });
  });

  it('is the oldest of several', () => {
    const [old, young] = [nad('z', '2026-01-01T00:00:00Z'), nad('a', '2026-01-02T00:00:00Z')];
    expect(primaryNetworkOf('ns', label, [young, old])).toEqual({ kind: 'network', nad: old, ignored: [young] });
  });

  it('has a total order', () => {
    const [a, b] = [nad('a', '2026-01-01T00:00:00Z').metadata, nad('b', '2026-01-01T00:00:00Z').metadata];
    expect([compareByAge(a, b), compareByAge(b, a), compareByAge(a, a)]).toEqual([-1, 1, 0]);
  });
});
