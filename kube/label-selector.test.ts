import { expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const LABELS = { app: 'web', tier: '2' };

it.each([
  ['', true],
  ['app=web', true],
  ['app==web,tier!=3', true],
  ['app in (web, db),tier notin (3)', true],
  ['app,!gone', true],
  ['tier>1,tier<3', true],
  ['tier>2', false],
  ['app!=web', false],
  ['gone in (web)', false],
])('%s: %s', (text, isMatch) => expect(parseLabelSelector(text)(LABELS)).toBe(isMatch));

it.each(['app=(', 'in (a)', 'app in a', 'a b'])('refuses %s', (text) =>
  expect(() => parseLabelSelector(text)).toThrow(SyntaxError),
);
