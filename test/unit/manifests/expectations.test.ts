/** `udnctl check` looks for what `daemonset/` installs. */
import { expect, it } from 'vitest';
import {
  LEASE_VERBS,
  PERMISSIONS,
  POLICIES,
  POLICIES_OF,
  type Program,
} from '../../../cli/commands/check/expectations.ts';
import { permission, permissionsOf, readManifests } from './load.ts';

const PROGRAMS = ['udn-agent', 'udn-cluster-manager'] as const satisfies readonly Program[];

/** `resource/subresource.group` → `group/resource/subresource verb`. */
const expected = (program: Program): string[] =>
  Object.entries(PERMISSIONS[program]).flatMap(([text, verbs]) => {
    const [resource = '', ...group] = text.split('.');
    return verbs.map((verb) => permission(group.join('.'), resource, verb));
  });

it.each(PROGRAMS)('%s: its rights', (program) => {
  const lease = (verb: string): string => permission('coordination.k8s.io', 'leases', verb);
  // create cannot be asked for one name.
  const leases = program === 'udn-cluster-manager' ? [...LEASE_VERBS, 'create'].map(lease) : [];
  // Of some by their names; without it both start a moment later.
  const definitions = permission('apiextensions.k8s.io', 'customresourcedefinitions', 'get');
  expect([...expected(program), ...leases, definitions].sort()).toEqual([...permissionsOf(program)].sort());
});

it('the policies', () => {
  const there = readManifests().filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  expect([...POLICIES].sort()).toEqual(there.map(({ metadata }) => metadata.name).sort());
});

it.each(PROGRAMS)('%s: the policies that name its account', (program) => {
  const naming = readManifests().filter(
    (one) => one.kind === 'ValidatingAdmissionPolicy' && JSON.stringify(one).includes(`:${program}'`),
  );
  expect([...POLICIES_OF[program]].sort()).toEqual(naming.map(({ metadata }) => metadata.name).sort());
});
