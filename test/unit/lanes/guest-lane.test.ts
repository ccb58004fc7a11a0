import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GUEST_LANE, GUEST_LOCAL_LANE } from '../../guest-lane.ts';

const testsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`);

/** As `useCluster` is asked for it, and the sandbox itself. */
const NEEDS = /^\s*(needs|kernel): |\bneeds: \[/m;

it('the lanes of guests have the scenarios that need what a kernel may lack, and no others', () => {
  const needing = testsIn('test/e2e').filter((path) => NEEDS.test(readFileSync(path, 'utf8')));
  expect([...needing, ...testsIn('test/guest')].sort()).toEqual([...GUEST_LANE, ...GUEST_LOCAL_LANE].sort());
});
