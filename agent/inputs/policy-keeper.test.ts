/** Over 300 lines: each case is one way to be late or to fail, of the same set-up. */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { FactKind, Facts } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';
import { PolicyWorld, type WorldPod, worldPod } from '../testing/policy-world.ts';
import { type AdminProjection, projectAdminPolicy } from './policies/admin/admin-projection.ts';
import { AdminTable } from './policies/admin/admin-table.ts';
import type { PolicyNode } from './policies/admin/node-peers.ts';
import { NodePeers } from './policies/admin/node-peers.ts';
import { SiteRules } from './policies/admin/site-rules.ts';
import { DomainTable } from './policies/domain-table.ts';
import { HeldRules } from './policies/held-rules.ts';
import { PeerFiling } from './policies/peer-filing.ts';
import { PeerTable } from './policies/peer-table.ts';
import { Placement } from './policies/placement.ts';
import { PolicyBudgets } from './policies/policy-budgets.ts';
import { PolicyIndex } from './policies/policy-index.ts';
import { projectPolicy } from './policies/policy-projection.ts';
import { Postings } from './policies/postings.ts';
import { RuleTable } from './policies/rule-table.ts';
import { TargetTable } from './policies/target-table.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './policies/types.ts';
import { PolicyKeeper } from './policy-keeper.ts';
import { POLICY_BURST } from './policy-pace.ts';

const SETTINGS = new TestCluster('node1').settings;

const setUp = () => {
  const clock = createFakeClock();
  const caches = {
    policies: createStaticCache<PolicyProjection>(),
    pods: createStaticCache<PolicyPod>(),
    namespaces: createStaticCache<PolicyNamespace>(),
    nodes: createStaticCache<PolicyNode>(),
    admin: { AdminNetworkPolicy: createStaticCache<AdminProjection>() },
  };
  const failures: string[] = [];
  const onHeldFailure = (key: string, error: unknown): void => void failures.push(`${key}: ${error}`);
  const keep = (facts: FactStore) =>
    new PolicyKeeper({ facts, settings: SETTINGS, domains: new DomainTable(facts), caches, clock, onHeldFailure });
  const { facts } = new PolicyWorld();
  return { clock, caches, keep, facts, failures, keeper: keep(facts) };
};

/** As many policies as lead, each in a turn of its own: the next is held. */
const useUp = async ({ clock, caches }: Pick<ReturnType<typeof setUp>, 'clock' | 'caches'>): Promise<void> => {
  for (let at = 0; at < POLICY_BURST; at += 1) {
    await clock.advance(0);
    // The same one again would be no change.
    const key = `blue/p${clock.monotonic()}-${at}`;
    caches.policies.set(key, policy(key, { podSelector: {} }));
  }
  await clock.advance(0);
};

const policy = (key: string, spec: object): PolicyProjection => {
  const [namespace = '', name = ''] = key.split('/');
  return projectPolicy({ metadata: { namespace, name, uid: name }, ...{ spec } });
};

const KINDS = [
  ...(['policyRule', 'adminRule', 'subjectSet', 'peerSet', 'domainSet', 'denyGroup'] as const),
  ...(['podPolicy', 'policyPeer', 'decidedPod'] as const),
] satisfies readonly FactKind[];

const factsOf = (facts: FactStore): Record<string, unknown> =>
  Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      new Map([...facts.ids(kind)].map((id): [string, Facts[typeof kind] | undefined] => [id, facts.get(kind, id)])),
    ]),
  );

const ERROR = new RangeError('Maximum call stack size exceeded');

afterEach(() => {
  vi.restoreAllMocks();
});

describe('policies that could not be followed', () => {
  const isolate = policy('red/p', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] });
  const namespace = (name: string): PolicyNamespace => ({ name, labels: {}, problems: [] });

  const failing = () => {
    const world = setUp();
    world.caches.namespaces.set('red', namespace('red'));
    world.caches.pods.set('red/a', worldPod('red/a', { ips: { default: ['10.128.0.5'] } }));
    const acquire = vi.spyOn(RuleTable.prototype, 'acquire').mockImplementation(() => {
      throw ERROR;
    });
    world.caches.policies.set('red/p', isolate);
    return { ...world, acquire };
  };

  it('are worked out anew by themselves, and until then their pods are closed', async () => {
    const { clock, facts, keeper, acquire } = failing();
    expect(facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress', 'Egress'], rules: [] });
    expect(keeper.problems()).toMatchObject([{ object: 'NetworkPolicy/red/p' }]);
    acquire.mockRestore();
    await clock.advance(1000);
    expect(keeper.rebuilds).toBe(1);
    expect(facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress'], rules: [expect.any(String)] });
    expect(keeper.problems()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('are so less and less often, and closed as long as that fails', async () => {
    const { clock, facts, keeper } = failing();
    const waits: number[] = [];
    let before = clock.monotonic();
    while (waits.length < 13 && (await clock.next())) {
      waits.push(clock.monotonic() - before);
      before = clock.monotonic();
      expect(facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress', 'Egress'], rules: [] });
      expect(facts.get('decidedPod', 'red/a')).toBe(true);
    }
    const doubled = Array.from({ length: 10 }, (_, index) => 1000 * 2 ** index);
    expect(waits).toEqual([...doubled, 600_000, 600_000, 600_000]);
    keeper.stop();
    expect(clock.pending).toBe(0);
  });

  it('are also when the object could be followed meanwhile, as more may be half done', async () => {
    const { clock, caches, facts, keeper, acquire } = failing();
    acquire.mockRestore();
    caches.policies.set('red/p', policy('red/p', { podSelector: {} }));
    await clock.advance(1000);
    expect([keeper.rebuilds, clock.pending]).toEqual([1, 0]);
    expect(facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress'], rules: [] });
  });

  it('include what has not reached the index', async () => {
    const { clock, caches, facts, keeper } = setUp();
    caches.namespaces.set('red', namespace('red'));
    caches.pods.set('red/a', worldPod('red/a', { ips: { default: ['10.128.0.5'] } }));
    vi.spyOn(PolicyIndex.prototype, 'changePolicy').mockImplementationOnce(() => {
      throw ERROR;
    });
    expect(() => caches.policies.set('red/p', isolate)).toThrow(ERROR);
    await clock.advance(1000);
    expect(keeper.rebuilds).toBe(1);
    expect(facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress'] });
  });
});

it('policies in a long row are collected, but for a pod of the node that starts', async () => {
  const { clock, caches, facts } = setUp();
  const isolating = policy('red/p', { podSelector: {} });
  for (const name of ['red', 'blue']) caches.namespaces.set(name, { name, labels: {}, problems: [] });
  const pod = (name: string) => worldPod(`red/${name}`, { ips: { default: ['10.128.0.5'] } });
  await useUp({ clock, caches });
  caches.pods.set('red/a', pod('a'));
  caches.policies.set('red/p', isolating);
  expect(facts.get('podPolicy', 'red/a')?.isolated ?? []).toEqual([]);
  // Of another node: nobody waits.
  caches.pods.set('blue/far', worldPod('blue/far', { isLocal: false, ips: { default: ['10.128.2.5'] } }));
  expect(facts.get('podPolicy', 'red/a')?.isolated ?? []).toEqual([]);
  caches.pods.set('red/b', worldPod('red/b', { ips: { default: ['10.128.0.6'] } }));
  for (const key of ['red/a', 'red/b']) expect(facts.get('podPolicy', key)?.isolated).toEqual(['Ingress']);
  await clock.advance(0);
  caches.policies.remove('red/p');
  expect(facts.get('podPolicy', 'red/a')?.isolated).toEqual(['Ingress']);
  await clock.advance(100);
  expect([facts.get('podPolicy', 'red/a')?.isolated ?? [], clock.pending]).toEqual([[], 0]);
});

it('a policy that is deleted and created again never opens its pods', async () => {
  const { clock, caches, facts } = setUp();
  caches.namespaces.set('red', { name: 'red', labels: {}, problems: [] });
  caches.pods.set('red/a', worldPod('red/a', { ips: { default: ['10.128.0.5'] } }));
  caches.policies.set('red/p', policy('red/p', { podSelector: {} }));
  await clock.advance(0);
  const isolated = new Set<unknown>();
  facts.listen(() => isolated.add(String(facts.get('podPolicy', 'red/a')?.isolated)));
  caches.policies.remove('red/p');
  await clock.advance(50);
  caches.policies.set('red/p', policy('red/p', { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] }));
  await clock.advance(1_000);
  expect([isolated, facts.get('podPolicy', 'red/a')?.rules.length]).toEqual([new Set(['Ingress']), 1]);
});

it('policies that are held are followed before namespaces, nodes, policies of administrators, and who asks', async () => {
  const { clock, caches, facts, keeper } = setUp();
  const namespace = (name: string, labels = {}): void => caches.namespaces.set(name, { name, labels, problems: [] });
  namespace('red');
  namespace('blue');
  caches.pods.set('red/a', worldPod('red/a', { ips: { default: ['10.128.0.5'] } }));
  const admin = projectAdminPolicy('AdminNetworkPolicy', {
    ...{ metadata: { name: 'admin' }, spec: { priority: 1, subject: { namespaces: {} } } },
  });
  const steps: (() => void)[] = [
    () => namespace('blue', { team: 'a' }),
    () => caches.nodes.set('n2', { labels: {}, ips: [] }),
    () => caches.admin.AdminNetworkPolicy.set('admin', admin),
    () => keeper.release(),
  ];
  for (const step of steps) {
    await useUp({ clock, caches });
    caches.policies.set('red/p', policy('red/p', { podSelector: {} }));
    expect(facts.get('podPolicy', 'red/a')?.isolated ?? []).toEqual([]);
    step();
    expect(facts.get('podPolicy', 'red/a')?.isolated).toEqual(['Ingress']);
    await clock.advance(0);
    caches.policies.remove('red/p');
    keeper.release();
    await clock.advance(10_000);
  }
});

it('what a held policy throws is reported, and all is worked out anew', async () => {
  const { clock, caches, failures, keeper } = setUp();
  await useUp({ clock, caches });
  vi.spyOn(PolicyIndex.prototype, 'changePolicy').mockImplementationOnce(() => {
    throw ERROR;
  });
  caches.policies.set('red/p', policy('red/p', { podSelector: {} }));
  await clock.advance(2_000);
  expect([failures, keeper.rebuilds]).toEqual([[`NetworkPolicy/red/p: ${ERROR}`], 1]);
});

it('policies that are there when it begins are followed before it goes on', () => {
  const { caches, keep } = setUp();
  caches.namespaces.set('red', { name: 'red', labels: {}, problems: [] });
  caches.pods.set('red/a', worldPod('red/a', { ips: { default: ['10.128.0.5'] } }));
  for (const port of [80, 81, 82])
    caches.policies.set(`red/p${port}`, policy(`red/p${port}`, { podSelector: {}, ingress: [{ ports: [{ port }] }] }));
  const { facts } = new PolicyWorld();
  keep(facts);
  expect([...facts.ids('policyRule')]).toHaveLength(3);
});

/** Where an error is thrown at some call. */
const PLACES: readonly (readonly [object, string])[] = [
  ...(['move', 'acquire', 'release', 'watch', 'changeNamespace', 'flush'] as const).map(
    (method) => [PeerTable.prototype, method] as const,
  ),
  ...(['acquire', 'release', 'flush', 'acquireDenyGroup'] as const).map(
    (method) => [RuleTable.prototype, method] as const,
  ),
  ...(['join', 'leave', 'add', 'end', 'settle', 'move'] as const).map(
    (method) => [TargetTable.prototype, method] as const,
  ),
  ...(['hold', 'drop'] as const).map((method) => [HeldRules.prototype, method] as const),
  ...(['addressesOn', 'networksOf', 'use'] as const).map((method) => [Placement.prototype, method] as const),
  [Postings.prototype, 'matching'],
  ...(['add', 'delete', 'matching'] as const).map((method) => [PeerFiling.prototype, method] as const),
  ...(['use', 'settle'] as const).map((method) => [PolicyBudgets.prototype, method] as const),
  ...(['movePod', 'settle', 'changeNamespace'] as const).map((method) => [AdminTable.prototype, method] as const),
  [SiteRules.prototype, 'compile'],
  [NodePeers.prototype, 'change'],
];

type Step = (caches: ReturnType<typeof setUp>['caches']) => void;

const namespaceName = fc.constantFrom('red', 'blue');
const key = fc.tuple(namespaceName, fc.constantFrom('x', 'y', 'z')).map((parts) => parts.join('/'));
const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('a', 'b'), { maxKeys: 2 });
const selector = fc.record({ matchLabels: fc.dictionary(fc.constant('app'), fc.constantFrom('a', 'b')) });
const peer = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector }),
  fc.record({ ipBlock: fc.constant({ cidr: '10.0.0.0/8' }) }),
);
const port = fc.constantFrom({ port: 80 }, { port: 'http' }, { port: 81, endPort: 90 });
const rule = <Name extends string>(name: Name) =>
  fc.record({ [name]: fc.array(peer, { maxLength: 2 }), ports: fc.array(port, { maxLength: 2 }) });
const spec = fc.record({
  podSelector: selector,
  ingress: fc.array(rule('from'), { maxLength: 2 }),
  egress: fc.array(rule('to'), { maxLength: 2 }),
  policyTypes: fc.subarray(['Ingress', 'Egress'], { minLength: 1 }),
});
const pod: fc.Arbitrary<WorldPod> = fc
  .record({ labels, isLocal: fc.boolean(), host: fc.integer({ min: 2, max: 9 }), number: fc.constantFrom(80, 81) })
  .map(({ host, number, ...rest }) => ({
    ...rest,
    ...{ ips: { default: [`10.128.0.${host}`] }, ports: [`http:tcp:${number}`] },
  }));
const often = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(undefined) });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.tuple(key, often(spec)).map(
      ([at, one]): Step =>
        ({ policies }) =>
          one ? policies.set(at, policy(at, one)) : policies.remove(at),
    ),
    fc.tuple(key, often(pod)).map(
      ([at, one]): Step =>
        ({ pods }) =>
          one ? pods.set(at, worldPod(at, one)) : pods.remove(at),
    ),
    fc.tuple(namespaceName, labels).map(
      ([name, own]): Step =>
        ({ namespaces }) =>
          namespaces.set(name, { name, labels: own, problems: [] }),
    ),
    fc.tuple(labels, fc.constantFrom('192.0.2.1', '192.0.2.2')).map(
      ([own, ip]): Step =>
        ({ nodes }) =>
          nodes.set('n2', { labels: own, ips: [ip] as unknown as PolicyNode['ips'] }),
    ),
    fc.tuple(selector, selector, fc.constantFrom('Allow', 'Deny')).map(
      ([subject, nodes, action]): Step =>
        ({ admin }) =>
          admin.AdminNetworkPolicy.set(
            'admin',
            projectAdminPolicy('AdminNetworkPolicy', {
              metadata: { name: 'admin' },
              spec: { priority: 1, subject: { namespaces: subject }, egress: [{ action, to: [{ nodes }] }] },
            }),
          ),
    ),
  ),
  { minLength: 10, maxLength: 30 },
);

it('after errors anywhere, what policies make of all pods is as if there had been none', async () => {
  const throwing = { at: new Set<number>(), calls: 0 };
  for (const [target, method] of PLACES) {
    const real = (target as Record<string, (...args: unknown[]) => unknown>)[method];
    vi.spyOn(target as Record<string, () => unknown>, method).mockImplementation(function (
      this: unknown,
      ...args: unknown[]
    ) {
      throwing.calls += 1;
      if (throwing.at.has(throwing.calls)) throw ERROR;
      return real?.apply(this, args);
    });
  }
  let rebuilds = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.array(fc.nat(300), { maxLength: 4 }), async (all, at) => {
      const { clock, caches, facts, keeper, keep } = setUp();
      for (const name of ['red', 'blue']) facts.set('namespace', name, { name, wantsPrimaryNetwork: false });
      Object.assign(throwing, { at: new Set(at), calls: 0 });
      for (const step of all)
        try {
          step(caches);
        } catch (error) {
          // A real mirror logs it.
          if (error !== ERROR) throw error;
        }
      throwing.at = new Set();
      await clock.advance(10_000);
      rebuilds += keeper.rebuilds;
      const fresh = new PolicyWorld().facts;
      for (const name of ['red', 'blue']) fresh.set('namespace', name, { name, wantsPrimaryNetwork: false });
      keep(fresh);
      expect(keeper.index.failed()).toEqual([]);
      expect(factsOf(facts)).toEqual(factsOf(fresh));
      keeper.stop();
    }),
    { numRuns: 60 },
  );
  expect(rebuilds).toBeGreaterThan(0);
});
