import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSelector, matchesSelector } from '../../../api/label-selector.ts';
import { canonicalSelector, isSelected } from './canonical-selector.ts';
import { Postings } from './postings.ts';

const expression = (key: string, operator: string, ...values: string[]) => ({ key, operator, values });

describe('canonicalSelector', () => {
  it.each<[string, LabelSelector]>([
    ['', {}],
    ['', { matchLabels: {}, matchExpressions: [] }],
    ['app=web,tier=a', { matchLabels: { tier: 'a', app: 'web' } }],
    ['app=web', { matchExpressions: [expression('app', 'In', 'web')] }],
    ['app=web', { matchExpressions: [expression('app', 'In', 'web', 'web'), expression('app', 'Exists')] }],
    ['app in (a,b)', { matchExpressions: [expression('app', 'In', 'b', 'a')] }],
    ['app=b', { matchExpressions: [expression('app', 'In', 'b', 'a'), expression('app', 'NotIn', 'a')] }],
    ['app,app notin (a)', { matchExpressions: [expression('app', 'NotIn', 'a'), expression('app', 'Exists')] }],
    ['!app,tier', { matchExpressions: [expression('tier', 'Exists'), expression('app', 'DoesNotExist')] }],
    ['!app', { matchExpressions: [expression('app', 'NotIn', 'a'), expression('app', 'DoesNotExist')] }],
    ['(nothing)', { matchLabels: { app: 'a' }, matchExpressions: [expression('app', 'DoesNotExist')] }],
    ['(nothing)', { matchLabels: { app: 'a' }, matchExpressions: [expression('app', 'In', 'b')] }],
    ['app="a,b=c"', { matchLabels: { app: 'a,b=c' } }],
  ])('"%s"', (text, selector) => expect(canonicalSelector(selector).text).toBe(text));

  const key = fc.constantFrom('a', 'b', 'constructor');
  const value = fc.constantFrom('x', 'y', '');
  const labels = fc.dictionary(key, value, { maxKeys: 3 });
  const selectors = fc.record({
    matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
    matchExpressions: fc.array(
      fc.oneof(
        fc.record({
          key,
          operator: fc.constantFrom('In', 'NotIn'),
          values: fc.array(value, { minLength: 1, maxLength: 3 }),
        }),
        fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
      ),
      { maxLength: 3 },
    ),
  });

  it('selects what the selector selects, and files it where it is found', () => {
    fc.assert(
      fc.property(fc.array(selectors, { maxLength: 6 }), fc.array(labels, { maxLength: 4 }), (all, objects) => {
        const items = all.map((selector, index) => ({ index, selector: canonicalSelector(selector) }));
        const postings = new Postings<(typeof items)[number]>();
        for (const item of items) postings.add(item);
        for (const item of items.slice(4)) postings.delete(item);
        for (const object of objects) {
          const want = all.map((selector) => matchesSelector(selector, object));
          expect(items.map(({ selector }) => isSelected(selector, object))).toEqual(want);
          const found = postings.matching(object).map(({ index }) => index);
          expect(found.sort()).toEqual(want.flatMap((is, index) => (is && index < 4 ? [index] : [])));
        }
      }),
      { numRuns: 300 },
    );
  });
});
