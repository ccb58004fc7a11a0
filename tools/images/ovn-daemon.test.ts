/** The entry point of the image of OVN: everything that a list does not have is refused before anything is touched. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/ovn-daemon');

it.each([[], ['northd; id'], ['../ovsdb-server'], ['']])('refuses %j', (...args) => {
  const { status, stdout, stderr } = spawnSync(PROGRAM, args.flat());
  expect([status, stdout.toString()]).toEqual([2, '']);
  expect(stderr.toString()).toMatch(/^usage: ovn-daemon ovsdb-server\|ovs-vswitchd\|nb\|sb\|northd\|ovn-controller$/m);
});

it('is a script that a shell takes', () => {
  expect(spawnSync('sh', ['-n', PROGRAM]).status).toBe(0);
});
