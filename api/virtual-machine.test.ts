import { expect, it } from 'vitest';
import { machineIdentity } from './virtual-machine.ts';

const labels = (name?: string, uid?: string): Record<string, string> => ({
  ...(name !== undefined && { 'vm.kubevirt.io/name': name }),
  ...(uid !== undefined && { 'kubevirt.io/created-by': uid }),
});

it.each([
  ['no label', labels(), undefined],
  ['a UID alone, as KubeVirt’s other pods have', labels(undefined, 'u1'), undefined],
  ['a name alone', labels('db'), 'db'],
  ['both', labels('db', 'u1'), 'db (u1)'],
  ['an empty UID', labels('db', ''), 'db'],
])('a machine with %s', (_, given, expected) => {
  expect(machineIdentity(given)).toBe(expected);
});
