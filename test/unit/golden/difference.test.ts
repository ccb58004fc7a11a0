import { expect, it } from 'vitest';
import { differenceOf } from './difference.ts';

const base = ['# flows', 'a', 'b', 'c', '# routes', 'd'];

it.each([
  ['nothing', base, []],
  ['a line that is missing', ['# flows', 'a', 'c', '# routes', 'd'], ['# flows', '- b']],
  ['lines that are added after each other', [...base, 'e', 'f'], ['# routes', '+ e', '+ f']],
  ['both, in two sections', ['# flows', 'a', 'b', 'x', '# routes'], ['# flows', '- c', '+ x', '# routes', '- d']],
  ['an order', ['# flows', 'b', 'a', 'c', '# routes', 'd'], ['# flows', '- a', '+ a']],
])('tells %s', (_, text, lines) => {
  const reported = differenceOf(base, text);
  expect(reported.slice(0, -1)).toEqual(lines);
  expect(reported.at(-1)).toMatch(new RegExp(`^# ${text.length} lines, sha256 [0-9a-f]{64}$`));
});

it('tells apart where an equal line is missing', () => {
  const [first, second] = [
    ['b', 'a'],
    ['a', 'b'],
  ];
  expect(differenceOf(['a', 'b', 'a'], first)).not.toEqual(differenceOf(['a', 'b', 'a'], second));
});
