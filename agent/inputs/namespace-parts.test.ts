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
  ['{"deny":"info","allow":"notice","other":1}', { deny: 'info', allow: 'notice' }],
])('logs as %s says', (text, log) => {
  const { policy } = project({}, text);
  expect([policy.log, policy.problems]).toEqual([log, []]);
});

it.each(['{"deny":"loud"}', '{', '7', '{"allow":{}}'])('logs nothing, and says so, of %s', (text) => {
  const { policy } = project({}, text);
  expect(policy.log).toBeUndefined();
  expect(policy.problems).toMatchObject([{ object: 'Namespace/red', cause: 'object-unreadable' }]);
});
