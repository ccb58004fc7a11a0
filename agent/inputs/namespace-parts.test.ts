import { expect, it } from 'vitest';
import { projectNamespaceParts } from './namespace-parts.ts';

const project = (
  labels: Record<string, string>,
  logging?: string,
  before?: ReturnType<typeof projectNamespaceParts>,
) => {
  const annotations = logging === undefined ? {} : { 'k8s.ovn.org/acl-logging': logging };
  return projectNamespaceParts(
    { metadata: { name: 'red', uid: 'u', resourceVersion: '1', labels, annotations } },
    before,
  );
};

it('labels are for policies alone, and a part that is as it was stays the same object', () => {
  const before = project({ team: 'a' });
  const after = project({ team: 'b' }, undefined, before);
  expect(after.fact).toBe(before.fact);
  expect(after.policy.labels).toEqual({ team: 'b' });
  expect(project({ team: 'b' }, undefined, after).policy).toBe(after.policy);
  expect(project({ 'k8s.ovn.org/primary-user-defined-network': '' }, undefined, before).fact).not.toBe(before.fact);
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['{}', undefined],
  ['{"deny":"","allow":""}', undefined],
  ['{"deny":"alert"}', { deny: 'alert' }],
  ['{"deny":"info","allow":"notice"}', { deny: 'info', allow: 'notice' }],
])('logs as %s says', (text, log) => {
  const { policy } = project({}, text);
  expect([policy.log, policy.problems]).toEqual([log, []]);
});

it.each(['{"deny":"loud"}', '{', '7', '{"allow":{}}'])('logs nothing, and says so, of %s', (text) => {
  const { policy } = project({}, text);
  expect(policy.log).toBeUndefined();
  expect(policy.problems).toMatchObject([{ object: 'Namespace/red', cause: 'object-unreadable' }]);
});

it.each([
  ['{"Deny":"info","allow":"notice"}', { allow: 'notice' }, '"Deny" logs nothing'],
  ['{"drop":"info"}', undefined, '"drop" logs nothing'],
  ['{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}', undefined, '"a", "b", "c", "d", "e" and 2 more log nothing'],
])('warns of keys that say nothing, in %s', (text, log, message) => {
  const { policy } = project({}, text);
  expect(policy.log).toEqual(log);
  expect(policy.problems).toEqual([
    {
      ...{ object: 'Namespace/red', severity: 'warning' },
      message: `annotation k8s.ovn.org/acl-logging: ${message}: the keys are "deny" and "allow"`,
    },
  ]);
});
