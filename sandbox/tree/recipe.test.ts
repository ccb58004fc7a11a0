import { describe, expect, it } from 'vitest';
import { mirrorIn, mmdebstrapArguments, recipeKey } from './recipe.ts';

describe('mirrorIn', () => {
  it.each([
    ['Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n', 'http://mirror.example/debian'],
    ['deb http://mirror.example/debian bookworm main\n', 'http://mirror.example/debian'],
    ['deb [signed-by=/k] https://mirror.example/path/debian/ bookworm main\n', 'https://mirror.example/path/debian'],
    ['Types: deb\nURIs: http://mirror.example/debian-security\nSuites: x\n', undefined],
    ['# deb http://mirror.example/debian bookworm main\n', undefined],
  ])('of %j is %s', (sources, mirror) => expect(mirrorIn(sources)).toBe(mirror));
});

it('the recipe has one name and one command line', () => {
  expect(recipeKey('x64')).toMatch(/^tree-trixie-[0-9a-f]{12}$/);
  expect(recipeKey('x64')).toBe(recipeKey('x64'));
  expect(recipeKey('x64')).not.toBe(recipeKey('arm64'));
  expect(mmdebstrapArguments('http://mirror.example/debian', '/t').slice(-3)).toEqual([
    'trixie',
    '/t',
    'http://mirror.example/debian',
  ]);
});
