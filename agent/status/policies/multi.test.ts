import { expect, it } from 'vitest';
import { keyOfMulti } from '../../inputs/policies/multi-notes.ts';
import { networkOfId, podOfId } from '../../model/facts.ts';
import { targetSetName } from '../../model/policies/ids.ts';
import { MultiWorld } from '../../testing/multi-world.ts';
import { worldPod } from '../../testing/policy-world.ts';
import { noPolicies } from '../testing/no-policies.ts';
import { reportPolicyMatrix } from './matrix.ts';
import { type EndQuestion, reportPodEnd } from './pod-end.ts';
import { parseMatrixQuestion } from './question.ts';
import { reportPolicies } from './report.ts';
import type { PolicyReportSources } from './sources.ts';

const FLAT = 'cluster_udn_flat';
const PODS = {
  'a/web': { labels: { app: 'web' }, ips: { default: ['10.128.0.3'], 'a/flat': ['10.1.0.3', 'fd01::3'] } },
  'a/app': { isLocal: false, labels: { app: 'app' }, ips: { default: ['10.128.2.4'] } },
  'a/db': { isLocal: false, ips: { default: ['10.128.2.6'], 'a/flat': ['10.1.0.4', 'fd01::4'] } },
  'b/app': {
    isLocal: false,
    labels: { app: 'app' },
    ips: { default: ['10.128.2.5'], 'b/flat': ['10.1.0.5', 'fd01::5'] },
  },
};

/** a/web lets b/app in at TCP 80 on its secondary network, and all on its own. */
const sources = (): PolicyReportSources => {
  const world = new MultiWorld().nad('a/flat').nad('b/flat').namespace('a').namespace('b', { team: 'b' });
  for (const [key, pod] of Object.entries(PODS)) world.pod(key, pod);
  world.policy('a/p', 'flat, none', {
    podSelector: {},
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'b' } } }], ports: [{ port: 80 }] }],
  });
  const pods = new Map(Object.entries(PODS).map(([key, pod]) => [key, worldPod(key, pod)]));
  return {
    ...{ facts: world.facts, reconcilers: new Map() },
    ...noPolicies,
    policyLookup: {
      ...noPolicies.policyLookup,
      policies: () => world.index.policies(),
      describe: (key) => world.index.describe(keyOfMulti(key) ?? ''),
      isolating: (id) => world.index.isolating(podOfId(id), networkOfId(id) ?? ''),
      attachments: (pod) => world.index.attachmentsOf(pod),
      pods: () => pods,
      pod: (key) => pods.get(key),
      policiesOfRule: (rule) => world.index.policiesOfRule(rule),
    },
  };
};

it('lists a policy with its networks and its attachments', () => {
  const found = reportPolicies(sources());
  expect(found.policies).toMatchObject([
    {
      ...{ kind: 'MultiNetworkPolicy', networks: FLAT, namespace: 'a', name: 'p', types: ['Ingress'] },
      ...{ targets: [`a/web on ${FLAT}`], ruleCount: 2, peerPods: 1, problems: [] },
      notes: [expect.stringMatching(/a\/none does not exist/)],
    },
  ]);
});

it('shows its rules, and by which sets it is found in OVN', () => {
  const from = sources();
  const { rules, pods } = reportPolicies(from, { policy: 'MultiNetworkPolicy/a/p' });
  expect(rules.map(({ network, targets, policies, peerPods }) => [network, targets, policies, peerPods])).toEqual([
    [FLAT, ['a/web'], ['MultiNetworkPolicy/a/p'], 1],
    [FLAT, ['a/web'], ['MultiNetworkPolicy/a/p'], 1],
  ]);
  expect(pods).toMatchObject([{ pod: 'a/web', network: FLAT, isAttachment: true }]);
  const [rule] = rules;
  const behind = reportPolicies(from, { sets: [targetSetName(rule?.id ?? '')] });
  expect(behind.rules.map(({ id }) => id)).toEqual([rule?.id]);
});

it('has it among the policies of the pod', () => {
  const { policies, pods } = reportPolicies(sources(), { pod: 'a/web' });
  expect(policies.map(({ kind, name }) => [kind, name])).toEqual([['MultiNetworkPolicy', 'p']]);
  expect(pods[0]?.directions).toMatchObject([{ direction: 'Ingress', policies: ['MultiNetworkPolicy/a/p'] }]);
});

it.each([
  [{ peer: 'b/app' }, 'open', /no policy isolates a\/web/],
  [{ peer: 'b/app', network: FLAT }, 'partly', /let a part of b\/app to a\/web through/],
  [
    { peer: 'b/app', network: FLAT, packet: { protocol: 'tcp', port: 80 } },
    'allowed',
    /lets b\/app to a\/web on TCP 80/,
  ],
  [{ peer: 'b/app', network: FLAT, packet: { protocol: 'tcp', port: 81 } }, 'denied', /no rule for Ingress/],
  [{ peer: '10.1.0.9', network: FLAT }, 'denied', /no rule/],
  [{ peer: 'a/app', network: FLAT }, 'denied', /a\/app is not attached to network cluster_udn_flat/],
  [{ peer: 'b/app', network: FLAT, direction: 'Egress' }, 'open', /no policy isolates/],
  [{ peer: 'b/app', network: 'default' }, 'unknown', /default is not a secondary network/],
] satisfies [Partial<EndQuestion>, string, RegExp][])(
  'answers why on a secondary network: %j',
  (asked, verdict, why) => {
    const end = reportPodEnd(sources(), { pod: 'a/web', direction: 'Ingress', ...asked });
    expect(end.message).toMatch(why);
    expect(end.verdict).toBe(verdict);
    if (verdict === 'allowed') expect(end.isolatedBy).toEqual(['MultiNetworkPolicy/a/p']);
  },
);

it('has a matrix of the pods that are attached to a network, by its policies', () => {
  const { pods, ends, network } = reportPolicyMatrix(sources(), ...parseMatrixQuestion(`a?network=${FLAT}`));
  expect([pods, network]).toEqual([['a/db', 'a/web'], FLAT]);
  expect(ends.map((end) => [end.pod, end.direction, end.peer, end.network, end.verdict, end.peerAddresses])).toEqual([
    ['a/web', 'Egress', 'a/db', FLAT, 'open', ['10.1.0.4', 'fd01::4']],
    ['a/web', 'Ingress', 'a/db', FLAT, 'denied', ['10.1.0.4', 'fd01::4']],
  ]);
  const own = reportPolicyMatrix(sources(), ...parseMatrixQuestion('a'));
  expect([own.pods, own.network]).toEqual([['a/app', 'a/db', 'a/web'], undefined]);
  expect(own.ends.map(({ verdict }) => verdict)).toEqual(['open', 'open', 'open', 'open']);
  expect(reportPolicyMatrix(sources(), 'a', 'default')).toMatchObject({
    ...{ ends: [], message: 'default is not a secondary network here: ask without it', network: 'default' },
  });
  expect(() => parseMatrixQuestion('a?net=x')).toThrow('net');
});

it('has no matrix of what it does not know', () => {
  const from = sources();
  expect(reportPolicyMatrix(from, 'c').message).toBe('namespace c is not known here: there is no such namespace');
  const early = { ...from, policyLookup: { ...from.policyLookup, isRead: () => false } };
  expect(reportPolicyMatrix(early, 'a', FLAT)).toMatchObject({
    pods: [],
    message: expect.stringMatching(/not read/),
    network: FLAT,
  });
});
