import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePlaces, type Placed, placesOf, rulePriority, widthOf } from './places.ts';

describe('placesOf', () => {
  it('gives each priority of the API its own place', () => {
    const places = placesOf([placed(0), placed(1), placed(99), placed(1000), placed(1001)]);
    expect([...places.values()]).toEqual([32_001, 31_976, 28_851, 76, 51]);
  });

  it('lets names decide where priorities are the same', () => {
    const [b, a] = [placed(5, 'b'), placed(5, 'a')];
    const places = placesOf([b, a].sort(comparePlaces));
    expect([...places.keys()]).toEqual([a.key, b.key]);
  });

  it('moves nobody that has room', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 1001 }), { maxLength: 300 }), (priorities) => {
        const all = priorities.map((priority) => placed(priority)).sort(comparePlaces);
        const places = placesOf(all);
        for (const one of all) expect(placesOf([one]).get(one.key)).toBe(places.get(one.key));
      }),
      { numRuns: 20 },
    );
  });

  it('keeps policies in order, apart, and within what OVN allows', () => {
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 600 }), (policies) => {
        const all = policies
          .map(({ priority, width }, index) => placed(priority, `p${index}`, width))
          .sort(comparePlaces);
        const places = placesOf(all);
        let above = 32_002;
        for (const { key, width } of all) {
          const first = places.get(key);
          if (first === undefined) break;
          expect(first).toBeLessThan(above);
          above = rulePriority(first, width * 25 - 1);
          expect(above).toBeGreaterThan(1);
        }
        const fitting = all.findIndex(({ key }) => !places.has(key));
        expect(places.size).toBe(fitting === -1 ? all.length : fitting);
        if (fitting !== -1) expect(widthsOf(all.slice(0, fitting + 1))).toBeGreaterThan(1280);
      }),
      { numRuns: 50 },
    );
  });

  it('has room for 320 policies of a hundred rules', () => {
    const all = Array.from({ length: 321 }, (_, index) => placed(1000, `p${String(index).padStart(3, '0')}`, 4));
    const places = placesOf(all);
    expect(places.size).toBe(320);
    expect(places.has('AdminNetworkPolicy/p320')).toBe(false);
    expect(places.get('AdminNetworkPolicy/p000')).toBe(32_001);
  });
});

describe('widthOf', () => {
  it.each([
    { ingress: 0, egress: 0, width: 1 },
    { ingress: 25, egress: 3, width: 1 },
    { ingress: 3, egress: 26, width: 2 },
    { ingress: 100, egress: 100, width: 4 },
  ])('is $width for $ingress and $egress rules', ({ ingress, egress, width }) => {
    const rules = (length: number) => Array.from({ length }, () => ({ action: 'deny', peers: [], ports: [] }) as const);
    expect(widthOf({ ingress: rules(ingress), egress: rules(egress) })).toBe(width);
  });
});

const policy = fc.record({ priority: fc.integer({ min: 0, max: 1001 }), width: fc.integer({ min: 1, max: 4 }) });
const placed = (priority: number, name = `p${priority}`, width = 1): Placed => ({
  key: `AdminNetworkPolicy/${name}`,
  priority,
  name,
  width,
});
const widthsOf = (all: readonly Placed[]): number => all.reduce((sum, { width }) => sum + width, 0);
