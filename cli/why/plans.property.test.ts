/** What is said about a network agrees with what the cluster manager does, whatever objects there are. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { NODE_ANNOTATIONS, POD_ANNOTATIONS } from '../../api/names.ts';
import { type NetworkView, planDesired, renderOrExplain } from '../../cluster-manager/render/plan-network.ts';
import { cudn, layer2Udn, nad, namespace, netConf, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import type { Scene } from './allocations.ts';
import { desiredNamespaces } from './desired.ts';
import type { Cause } from './finding.ts';
import { namespaceFindings } from './nad-findings.ts';
import { why } from './subject.ts';
import { ids, nadOf, scene, settledNetwork } from './testing/objects.ts';

const NAMESPACES = ['a', 'b'] as const;
const GOING = { deletionTimestamp: '2026-05-01T00:00:00Z' };
const layer2 = (role: string) => ({
  topology: 'Layer2',
  layer2: { role, ...(role === 'Primary' && { subnets: ['10.5.0.0/16'] }) },
});

const udnOf = (name: string, role: string) =>
  settledNetwork(layer2Udn(name, ['10.100.0.0/16'], role === 'Primary' ? {} : { role }));
const cudnOf = (name: string, role: string) =>
  settledNetwork(cudn(name, { matchExpressions: [{ key: name, operator: 'Exists' }] }, layer2(role)));

const someNamespace = fc.record({
  isThere: fc.boolean(),
  hasLabel: fc.boolean(),
  isGoing: fc.boolean(),
  labels: fc.subarray(['one', 'two']),
});
const someNad = fc.record({
  in: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom('net', 'one', 'two', 'hand'),
  of: fc.constantFrom('udn', 'cudn', 'nobody', 'garbage', 'other plugin'),
  role: fc.constantFrom('primary', 'secondary'),
  isGoing: fc.boolean(),
  hasId: fc.boolean(),
});
const garbage = fc.constantFrom(
  '{',
  '[]',
  '{"a/net":{}}',
  '{"a/net":5}',
  '{"default":{"ip_addresses":["x"]}}',
  '7',
  '',
);
const somePod = fc.record({
  in: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom('p', 'q'),
  networks: fc.option(garbage),
  selection: fc.option(fc.constantFrom('a/net', 'hand', 'b/two', '{', 'x/y/z')),
  isGoing: fc.boolean(),
});
const someCluster = fc.record({
  a: someNamespace,
  b: someNamespace,
  roles: fc.record({ net: fc.constantFrom('Primary', 'Secondary'), one: fc.constantFrom('Primary', 'Secondary') }),
  isGoing: fc.boolean(),
  nads: fc.uniqueArray(someNad, { selector: ({ in: of, name }) => `${of}/${name}`, maxLength: 5 }),
  pods: fc.uniqueArray(somePod, { selector: ({ in: of, name }) => `${of}/${name}`, maxLength: 3 }),
  subnets: fc.option(garbage),
});
type SomeCluster = typeof someCluster extends fc.Arbitrary<infer Value> ? Value : never;

const objectsOf = ({ roles, isGoing, nads, pods, subnets, ...namespaces }: SomeCluster): unknown[] => {
  const going = (object: ReturnType<typeof tenant>, leaves: boolean) =>
    leaves ? { ...object, metadata: { ...object.metadata, ...GOING } } : object;
  return [
    ...NAMESPACES.flatMap((name) => {
      const { isThere, hasLabel, isGoing: leaves, labels } = namespaces[name];
      const object = (hasLabel ? tenant : namespace)(name, Object.fromEntries(labels.map((label) => [label, ''])));
      return isThere ? [going(object, leaves)] : [];
    }),
    going(udnOf('a/net', roles.net), isGoing),
    cudnOf('one', roles.one),
    cudnOf('two', 'Primary'),
    ...nads.map((some) => nadObject(some, roles)),
    ...pods.map(({ in: of, name, networks, selection, isGoing: leaves }) =>
      pod(`${of}/${name}`, {
        annotations: {
          ...(networks !== null && { [POD_ANNOTATIONS.networks]: networks }),
          ...(selection !== null && { [POD_ANNOTATIONS.selection]: selection }),
        },
        ...(leaves && GOING),
      }),
    ),
    node('n1', subnets === null ? {} : { [NODE_ANNOTATIONS.subnets]: subnets }),
  ];
};

const nadObject = (
  { in: of, name, of: owner, role, isGoing, hasId }: SomeCluster['nads'][number],
  roles: SomeCluster['roles'],
): unknown => {
  const key = `${of}/${name}`;
  const metadata = { ...(isGoing && GOING), ...(hasId ? {} : { annotations: {} }) };
  if (owner === 'udn') return nadOf(udnOf(key, roles.net), of, { role }, metadata);
  if (owner === 'cudn') return nadOf(cudnOf(name, roles.one), of, { role }, metadata);
  if (owner === 'garbage') return nad(key, '{', metadata);
  if (owner === 'other plugin') return nad(key, { type: 'macvlan' }, metadata);
  return nad(key, netConf(key, `by-hand-${name}`, { role }), { annotations: ids(`by-hand-${name}`, 9), ...metadata });
};

/** As the cluster manager sees it. */
const viewOf = (scenery: Scene): NetworkView => ({
  rendered: (facts) => renderOrExplain(facts, parseClusterConfig()),
  namespace: (name) => scenery.namespaces.get(name),
  nad: (key) => scenery.nads.get(key),
  nadsIn: scenery.nadsIn,
  pendingPrimaries: () => [],
  podsUsing: (key) => scenery.podsUsing(key).map((one) => one.key),
});

const NOWHERE = { isThere: false, hasLabel: false, isGoing: false, labels: [] };
const HERE = { isThere: true, hasLabel: true, isGoing: false, labels: [] };
const QUIET: SomeCluster = {
  a: HERE,
  b: NOWHERE,
  roles: { net: 'Primary', one: 'Primary' },
  isGoing: false,
  nads: [],
  pods: [],
  subnets: null,
};
const NAD = { in: 'a', name: 'net', of: 'nobody', role: 'primary', isGoing: false, hasId: false } as const;

/** The smallest cluster for each reason to refuse a network: chance alone would not meet all of them in every run. */
const REFUSED: Readonly<Partial<Record<Cause, SomeCluster>>> = {
  'nad-foreign': { ...QUIET, a: { ...HERE, labels: ['one'] }, nads: [{ ...NAD, name: 'one', of: 'udn' }] },
  'label-missing': { ...QUIET, a: { ...HERE, hasLabel: false } },
  'nad-invalid': { ...QUIET, a: { ...HERE, labels: ['two'] }, nads: [{ ...NAD, of: 'garbage' }] },
  'primary-taken': { ...QUIET, nads: [{ ...NAD, name: 'two', of: 'udn' }] },
  'nad-being-deleted': {
    ...QUIET,
    a: { ...HERE, labels: ['two'] },
    nads: [{ ...NAD, name: 'two', of: 'cudn', isGoing: true }],
  },
};
const REFUSALS: readonly (string | undefined)[] = Object.keys(REFUSED);

it('the cluster manager refuses a network in a namespace exactly where a reason is said', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(someCluster, (cluster) => {
      const scenery = scene(objectsOf(cluster));
      for (const facts of scenery.networks.values()) {
        for (const name of desiredNamespaces(facts, scenery)) {
          const plan = planDesired(facts, name, viewOf(scenery));
          const findings = namespaceFindings(facts, name, scenery);
          const cause = findings.find(({ state }) => state === 'blocked')?.cause;
          // A NAD of the network's own that is garbage is written again.
          const isRefused = REFUSALS.includes(cause) && !(cause === 'nad-invalid' && plan.kind === 'apply');
          seen.add(`${plan.kind} ${cause}`);
          expect([plan.kind === 'error', cause]).toEqual([isRefused, cause]);
          if (plan.kind === 'skip') expect(['namespace-missing', 'namespace-terminating', undefined]).toContain(cause);
          if (plan.kind === 'apply' && plan.isNew) expect(cause).toBe('nad-missing');
        }
      }
    }),
    { numRuns: 300, examples: Object.values(REFUSED).map((cluster): [SomeCluster] => [cluster]) },
  );
  expect([...seen].filter((text) => text.startsWith('error')).sort()).toEqual(
    REFUSALS.map((cause) => `error ${cause}`).sort(),
  );
});

it('an answer is given to every question, and says what to do about what blocks', () => {
  fc.assert(
    fc.property(someCluster, (cluster) => {
      const scenery = scene(objectsOf(cluster));
      const names = ['a/net', 'one', 'two', 'by-hand-hand', 'a/hand', 'nobody'];
      const questions = [
        ...names.flatMap((name) => (['network', 'udn', 'cudn'] as const).map((kind) => ({ kind, name }))),
        ...['a/p', 'a/q', 'b/p', 'b/q'].map((name) => ({ kind: 'pod' as const, name })),
      ];
      for (const question of questions) {
        const { isReady, summary, cause, findings } = why(question, scenery);
        const held = findings.filter(({ state }) => state === 'blocked');
        expect(isReady).toBe(held.length === 0);
        expect(cause).toBe(held[0]?.cause);
        expect(summary).toMatch(/\S/);
        for (const { found, next } of held) expect([found, next].every((text) => /\S/.test(text ?? ''))).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});
