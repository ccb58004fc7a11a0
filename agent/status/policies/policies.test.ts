import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import type { NetworkPolicy } from '../../../api/network-policy.ts';
import { DONE } from '../../../base/reconciler.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import type { DescribedRule, PolicyDescription } from '../../inputs/policies/describe.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { denyGroupId, denyGroupName, targetSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { fakeReconciler } from '../../testing/fake-reconciler.ts';
import { noPolicies } from '../testing/no-policies.ts';
import { reportPolicyMatrix } from './matrix.ts';
import { type EndQuestion, reportPodEnd } from './pod-end.ts';
import { parseEndQuestion } from './question.ts';
import { type PolicyFilter, reportPolicies } from './report.ts';
import type { PolicyReportSources } from './sources.ts';

const policy = (name: string, more: Partial<NetworkPolicy> = {}): NetworkPolicy => ({
  ...{ namespace: 'red', name, uid: name, podSelector: {}, types: ['Ingress'] },
  ...{ ingress: [], egress: [], stateless: false },
  ...more,
});

const pod = (key: string, labels: PolicyPod['labels'], ips: readonly string[], more: Partial<PolicyPod> = {}) => {
  const [namespace = ''] = key.split('/');
  const addresses = ips.length === 0 ? [] : ([['red/net', ips.map(parseIp)]] as const);
  return [
    key,
    {
      namespace,
      labels,
      isLocal: true,
      node: 'n1',
      finished: false,
      addresses: new Map(addresses),
      ports: [],
      ...more,
    },
  ] as const satisfies readonly [string, PolicyPod];
};

const ALL = denyGroupId({ network: 'red_net' });

const WEB_FROM_APP: PolicyRuleFact = {
  network: 'red_net',
  direction: 'Ingress',
  family: 4,
  peers: { kind: 'set', set: 'apps' },
  l4: { protocol: 'tcp', ports: [80, [8000, 8010]] },
};
const WEB_FROM_BLOCK: PolicyRuleFact = {
  network: 'red_net',
  direction: 'Ingress',
  family: 4,
  peers: { kind: 'blocks', blocks: [parseCidr('10.20.9.0/24')] },
};

const rule = (id: string, fact: PolicyRuleFact): DescribedRule => ({ id, fact });
const BROKEN = [{ object: 'NetworkPolicy/red/broken', message: 'spec.ingress[0].ports[0].port: is no port' }];
const NOTE = [{ object: 'NetworkPolicy/red/web', message: 'no peer has a port http', severity: 'warning' as const }];
const r1 = rule('r1', WEB_FROM_APP);
const r2 = rule('r2', WEB_FROM_BLOCK);

const POLICIES = new Map<string, PolicyDescription>([
  ['red/deny', { policy: policy('deny'), targets: ['red/app', 'red/web'], rules: [], problems: [] }],
  ['red/web', { policy: policy('web'), targets: ['red/web'], rules: [r1, r2], problems: NOTE }],
  ['red/also', { policy: policy('also'), targets: ['red/web'], rules: [r1], problems: [] }],
  [
    'red/broken',
    { policy: policy('broken', { types: ['Ingress', 'Egress'] }), targets: ['red/app'], rules: [], problems: BROKEN },
  ],
]);

const NAMES = {
  domainSet: 'policy-domain-sets',
  adminRule: 'admin-rules',
  subjectSet: 'admin-subjects',
  policyRule: 'policy-rules',
  denyGroup: 'policy-deny',
  policyPeer: 'policy-peers',
  pod: 'pods',
};

const sources = (more: Partial<PolicyReportSources['policyLookup']> = {}): PolicyReportSources => {
  const { facts } = new TestCluster('n1')
    .namespace('red', true)
    .namespace('plain')
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });
  facts.set('policyRule', 'r1', WEB_FROM_APP);
  facts.set('policyRule', 'r2', WEB_FROM_BLOCK);
  facts.set('peerSet', 'apps', { network: 'red_net', families: [4], selects: 'pods app=app of namespace red' });
  facts.set('policyPeer', 'red/app', { sets: new Map([['apps', [parseIp('10.20.1.4')]]]) });
  const group = { network: 'red_net', denyGroup: 'g1' };
  facts.set('podPolicy', 'red/web', { ...group, isolated: ['Ingress'], rules: ['r1', 'r2'] });
  facts.set('podPolicy', 'red/app', { ...group, isolated: ['Ingress', 'Egress'], rules: [] });
  const pods = new Map<string, PolicyPod>([
    pod('red/web', { app: 'web' }, ['10.20.1.3']),
    pod('red/app', { app: 'app' }, ['10.20.1.4']),
    pod('red/far', {}, ['10.20.2.3'], { isLocal: false, node: 'n2' }),
    pod('red/new', {}, [], { isLocal: false, node: undefined }),
    pod('plain/other', {}, []),
  ]);
  return {
    facts,
    reconcilers: new Map([
      [
        'northbound',
        fakeReconciler({
          status: (owner) => (owner === 'policy-rules:r2' ? { kind: 'failed', message: 'it is refused' } : DONE),
        }),
      ],
    ]),
    ...{ node: noPolicies.node, cluster: noPolicies.cluster, failureToFollow: noPolicies.failureToFollow },
    failureToHear: noPolicies.failureToHear,
    policyLookup: {
      problems: () => [],
      isRead: () => true,
      policies: () => POLICIES.keys(),
      describe: (key) => POLICIES.get(key),
      isolating: (pod) =>
        [...POLICIES]
          .filter(([, { targets }]) => targets.includes(pod))
          .map(([key, one]) => ({ policy: key, types: one.policy.types })),
      attachments: () => [],
      pods: () => pods,
      pod: (key) => pods.get(key),
      policiesOfRule: (rule) => (rule === 'r1' ? ['red/web', 'red/also'] : ['red/web']),
      ...more,
    },
    ownersOver: (subject, key) => [`${NAMES[subject]}:${key}`],
    domainState: () => undefined,
  };
};

describe('policies of a node', () => {
  it('have the pods here that they select, and their problems', () => {
    const { isRead, policies } = reportPolicies(sources());
    expect(isRead).toBe(true);
    expect(policies).toMatchObject([
      { name: 'also', targets: ['red/web'], ruleCount: 1, state: 'ready' },
      { name: 'broken', targets: ['red/app'], ruleCount: 0, problems: ['spec.ingress[0].ports[0].port: is no port'] },
      { name: 'deny', targets: ['red/app', 'red/web'], ruleCount: 0, types: ['Ingress'] },
      {
        name: 'web',
        targets: ['red/web'],
        ruleCount: 2,
        state: 'error',
        message: 'it is refused',
        problems: [],
        notes: ['no peer has a port http'],
      },
    ]);
  });

  it('have rules in words, every policy that has one, and how far it is programmed', () => {
    expect(reportPolicies(sources(), { policy: 'red/web' }).rules).toEqual([
      {
        ...{ id: 'r1', network: 'red_net', direction: 'Ingress', family: 4, state: 'ready' },
        ...{ peers: 'pods app=app of namespace red', peerPods: 1, ports: 'TCP 80, 8000-8010' },
        ...{ targets: ['red/web'], policies: ['red/also', 'red/web'], targetSet: targetSetName('r1') },
      },
      {
        ...{ id: 'r2', network: 'red_net', direction: 'Ingress', family: 4, state: 'error', message: 'it is refused' },
        ...{ peers: '10.20.9.0/24', ports: 'all traffic' },
        ...{ targets: ['red/web'], policies: ['red/web'], targetSet: targetSetName('r2') },
      },
    ]);
  });

  it('have by pod the policies that isolate it', () => {
    const about = (filter: PolicyFilter) => reportPolicies(sources(), filter).pods;
    expect(reportPolicies(sources()).pods).toEqual([]);
    const failing = sources();
    failing.facts.set('podPolicy', 'red/c', {
      ...{ network: 'red_net', isolated: ['Ingress', 'Egress'], denyGroup: 'g', rules: [], isClosed: true },
    });
    expect(reportPolicies(failing).pods).toMatchObject([{ pod: 'red/c', isClosed: true, ruleCount: 0 }]);
    expect([...about({ pod: 'red/app' }), ...about({ policy: 'red/web' })]).toMatchObject([
      {
        pod: 'red/app',
        directions: [
          {
            direction: 'Ingress',
            policies: ['red/deny', 'red/broken'],
            denyGroup: denyGroupName(ALL, 'Ingress'),
            logGroup: denyGroupName('g1', 'Ingress'),
          },
          { direction: 'Egress', policies: ['red/broken'] },
        ],
      },
      { pod: 'red/web', directions: [{ direction: 'Ingress', policies: ['red/deny', 'red/web', 'red/also'] }] },
    ]);
  });
});

it('finds what is behind the sets and groups that ACLs name', () => {
  const behind = (...sets: string[]) => {
    const { policies, rules, pods } = reportPolicies(sources(), { sets });
    return [policies.length, rules.map(({ id }) => id), pods.map((one) => one.pod)];
  };
  expect(behind(targetSetName('r2'))).toEqual([0, ['r2'], []]);
  expect(behind(denyGroupName('g1', 'Egress'))).toEqual([0, [], ['red/app']]);
  expect(behind(denyGroupName(ALL, 'Egress'))).toEqual([0, [], ['red/app']]);
  expect(behind(denyGroupName('g1', 'Ingress'), 'other')).toEqual([0, [], ['red/app', 'red/web']]);
});

it('has a policy that waits for the network of a pod, and of a pod only its own policies', () => {
  const its = sources();
  its.facts.set('podPolicy', 'red/web', undefined);
  expect(reportPolicies(its, { policy: 'red/also' }).policies).toMatchObject([
    { state: 'pending', message: 'red/web has no network yet' },
  ]);
  expect(reportPolicies(its, { pod: 'red/app' }).policies.map(({ name }) => name)).toEqual(['broken', 'deny']);
});

const CASES: readonly (readonly [asked: string, verdict: string, message: RegExp])[] = [
  [
    'pod=red/web&direction=Ingress&peer=red/app&protocol=tcp&port=80',
    'allowed',
    /^a rule for Ingress of red\/web lets red\/app to red\/web on TCP 80 through$/,
  ],
  ['pod=red/web&direction=Ingress&peer=red/app&protocol=tcp&port=8010', 'allowed', /./],
  [
    'pod=red/web&direction=Ingress&peer=red/app&protocol=tcp&port=81',
    'denied',
    /^no rule for Ingress of red\/web lets/,
  ],
  ['pod=red/web&direction=Ingress&peer=red/app&protocol=udp&port=80', 'denied', /./],
  ['pod=red/web&direction=Ingress&peer=red/app', 'partly', /./],
  ['pod=red/web&direction=Ingress&peer=10.20.9.7', 'allowed', /./],
  ['pod=red/web&direction=Ingress&peer=10.20.1.4&protocol=tcp&port=80', 'allowed', /./],
  ['pod=red/web&direction=Ingress&peer=red/far', 'denied', /./],
  ['pod=red/web&direction=Egress&peer=red/far', 'open', /^no policy isolates red\/web for Egress$/],
  ['pod=red/app&direction=Egress&peer=red/web', 'denied', /./],
  ['pod=red/web&direction=Egress&peer=red/web', 'open', /itself/],
  ['pod=red/web&direction=Ingress&peer=plain/other', 'denied', /on network default and not on red_net/],
  ['pod=red/web&direction=Ingress&peer=red/new', 'unknown', /no address of network red_net yet/],
  ['pod=red/web&direction=Ingress&peer=red/none', 'unknown', /not known/],
  ['pod=red/far&direction=Egress&peer=red/web', 'unknown', /on another node/],
  ['pod=red/new&direction=Egress&peer=red/web', 'unknown', /^red\/new has no node yet$/],
  ['pod=constructor/__proto__&direction=Egress&peer=red/web', 'unknown', /is not known here/],
];

describe('one end of a connection', () => {
  it.each(CASES)('%s: %s', (asked, verdict, message) => {
    const end = reportPodEnd(sources(), parseEndQuestion(asked));
    expect(end.verdict).toBe(verdict);
    expect(end.message).toMatch(message);
  });

  it('says which policies isolate, which rule lets the packet through, and what the others lack', () => {
    const end = reportPodEnd(sources(), parseEndQuestion(CASES[0]?.[0] ?? ''));
    expect(end.isolatedBy).toEqual(['red/deny', 'red/web', 'red/also']);
    expect(end.families).toMatchObject([
      {
        family: 4,
        rules: [
          {
            id: 'r1',
            text: 'from pods app=app of namespace red, TCP 80, 8000-8010',
            policies: ['red/also', 'red/web'],
          },
          { id: 'r2', lacks: 'red/app is not among its peers' },
        ],
      },
    ]);
  });

  it.each([
    ['10.20.9.7', 'it is refused'],
    ['red/app', undefined],
  ])('says whether that for %s is programmed', (peer, notProgrammed) => {
    const end = reportPodEnd(sources(), { pod: 'red/web', direction: 'Ingress', peer });
    expect(end.notProgrammed).toBe(notProgrammed);
  });

  it('is not known before policies have been read', () => {
    const question: EndQuestion = { pod: 'red/web', direction: 'Ingress', peer: 'red/app' };
    expect(reportPodEnd(sources({ isRead: () => false }), question).verdict).toBe('unknown');
  });

  it.each([
    '',
    'pod=red&direction=Egress&peer=a/b',
    'pod=a/b&direction=in&peer=a/b',
    'pod=a/b&direction=Egress&peer=a/c&port=80',
  ])('refuses the question "%s"', (asked) => expect(() => parseEndQuestion(asked)).toThrow(ApiError));
});

it('has the ends of the pods of this node for a matrix', () => {
  const { pods, ends } = reportPolicyMatrix(sources(), 'red');
  expect(pods).toEqual(['red/app', 'red/far', 'red/new', 'red/web']);
  expect(ends).toHaveLength(2 * 2 * 3);
  const [end] = ends.filter((one) => one.pod === 'red/web' && one.direction === 'Ingress' && one.peer === 'red/app');
  expect(end?.families[0]?.rules.map(({ id }) => id)).toEqual(['r1']);
  const many = Array.from({ length: 65 }, (_, index) => pod(`red/p${index}`, {}, []));
  expect(reportPolicyMatrix(sources({ pods: () => many }), 'red').message).toMatch(/^namespace red has 65 pods, more/);
});
