import fc from 'fast-check';
import { expect, it } from 'vitest';
import { podFacts, samePod } from './pod-facts.ts';
import { podSchema, usualPod } from './pod-object.ts';

const USUAL = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'ns',
    name: 'web-1',
    generateName: 'web-',
    uid: 'd9b7',
    resourceVersion: '17',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-01T00:01:00Z',
    labels: { app: 'web' },
    annotations: { 'k8s.ovn.org/pod-networks': '{"ns/net":{}}' },
    finalizers: ['example.org/keep'],
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true }],
    managedFields: [{ manager: 'x' }],
  },
  spec: { nodeName: 'n1', hostNetwork: false, containers: [] },
  status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }] },
};

const values = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    'text',
    0,
    1.5,
    true,
    false,
    {},
    [],
    ['a'],
    [1],
    [null],
    { a: 'b' },
    { a: 1 },
  ),
  fc.constantFrom<unknown>(
    [{}],
    [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', controller: 'yes' }],
    [USUAL.metadata],
  ),
);
const PATHS = [
  ...['namespace', 'name', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['labels', 'annotations', 'finalizers', 'ownerReferences'],
].map((key) => ['metadata', key]);
const pods = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        ['metadata'],
        ['spec'],
        ['status'],
        ['spec', 'nodeName'],
        ['spec', 'hostNetwork'],
        ['status', 'phase'],
        ['status', 'podIPs'],
        ...PATHS,
      ),
      values,
    ),
    { maxLength: 2 },
  )
  .map((changes) => {
    const pod = structuredClone(USUAL) as Record<string, unknown>;
    for (const [[first = '', second], shared] of changes) {
      const value = structuredClone(shared);
      const part = pod[first];
      if (second === undefined) pod[first] = value;
      else if (typeof part === 'object' && part !== null) Reflect.set(part, second, value);
    }
    return JSON.parse(JSON.stringify(pod)) as unknown;
  });

it('what is read without the schema is what the schema reads', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: pods }, { weight: 1, arbitrary: fc.jsonValue() }), (object) => {
      const want = podSchema.safeParse(object);
      const read = usualPod(object);
      if (!want.success) {
        expect(read).toBeUndefined();
        expect(() => podFacts(object)).toThrow();
        return;
      }
      if (read !== undefined) expect(read).toEqual(want.data);
    }),
    { numRuns: 3000 },
  );
});

it('a pod as the server sends it needs no schema', () => {
  expect(usualPod(USUAL)).toBeDefined();
  const { namespace, name } = USUAL.metadata;
  expect(usualPod({ metadata: { namespace, name } })).toBeDefined();
  expect(podFacts(USUAL)).toMatchObject({ key: 'ns/web-1', isActive: true, annotatedKeys: ['ns/net'] });
});

it('no fact of a pod can change unseen, but the version', () => {
  const facts = podFacts(USUAL);
  for (const field of Object.keys(facts)) {
    const isSeen = !samePod(facts, { ...facts, [field]: { changed: true } });
    expect([field, isSeen]).toEqual([field, field !== 'resourceVersion']);
  }
});

it('has the addresses of a pod on its node’s network, as far as its status can be read', () => {
  const host = (podIPs?: unknown) => ({ ...USUAL, spec: { nodeName: 'n1', hostNetwork: true }, status: { podIPs } });
  expect(podFacts(USUAL).host).toBeUndefined();
  expect(podFacts(host([{ ip: '172.30.0.2' }, { ip: 7 }, null, { ip: 'fd00::2' }])).host).toEqual({
    node: 'n1',
    ips: '172.30.0.2 fd00::2',
  });
  for (const none of [undefined, null, 'text', {}]) expect(podFacts(host(none)).host).toEqual({ node: 'n1', ips: '' });
  expect(samePod(podFacts(host()), podFacts(host([{ ip: '172.30.0.2' }])))).toBe(false);
});
