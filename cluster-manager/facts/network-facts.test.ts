import { expect, it } from 'vitest';
import { layer2Udn, nad, netConf, udn } from '../testing/objects.ts';
import { nadFacts } from './nad-facts.ts';
import { udnFacts } from './network-facts.ts';

const network = (metadata: Record<string, unknown>, subnet = '10.20.0.0/16') => {
  const object = layer2Udn('a/net', [subnet]);
  return { ...object, metadata: { ...object.metadata, uid: 'u1', generation: 1, ...metadata } };
};

it('a spec whose generation is the same is not read again', () => {
  const before = udnFacts(network({}));
  const after = udnFacts(network({ finalizers: ['x'] }), before);
  expect(after.spec).toBe(before.spec);
  expect(after.metadata.finalizers).toEqual(['x']);
  expect(after).toEqual(udnFacts(network({ finalizers: ['x'] })));
});

it.each([
  ['another generation', { generation: 2 }],
  ['another object of its name', { uid: 'u2' }],
  ['an object without a generation', { generation: undefined }],
])('the spec of %s is read', (_, metadata) => {
  const before = udnFacts(network({}));
  expect(udnFacts(network(metadata, '10.30.0.0/16'), before).spec?.layer2?.subnets).toEqual(['10.30.0.0/16']);
});

it('what was wrong is read again', () => {
  const wrong = udnFacts(udn('a/net', { topology: 'Layer9' }, { uid: 'u1', generation: 1 }));
  expect(wrong.error).toBeDefined();
  expect(udnFacts(network({}), wrong)).toEqual(udnFacts(network({})));
});

it('a configuration that is the same is not read again, and one that has changed is', () => {
  const before = nadFacts(nad('a/net', netConf('a/net', 'a_net')));
  const annotations = { 'k8s.ovn.org/network-id': '7' };
  const after = nadFacts(nad('a/net', netConf('a/net', 'a_net'), { annotations }), before);
  expect([after.conf === before.conf, after.keys?.id]).toEqual([true, 7]);
  expect(nadFacts(nad('a/net', netConf('a/net', 'other')), before).conf?.name).toBe('other');
  expect(nadFacts(nad('a/net', '{'), before)).toMatchObject({ conf: undefined, confError: expect.anything() });
});
