import { describe, expect, it } from 'vitest';
import { DONE } from '../../../base/reconciler.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { parseDomainName } from '../../../net/domain-name.ts';
import { parseIp } from '../../../net/ip.ts';
import type { DomainState } from '../../dns/types.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import type { AdminRuleFact } from '../../model/policies/facts.ts';
import { domainSetId, subjectSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { fakeReconciler } from '../../testing/fake-reconciler.ts';
import { noPolicies } from '../testing/no-policies.ts';
import { reportPolicyMatrix } from './matrix.ts';
import { reportPodEnd } from './pod-end.ts';
import { reportPolicies } from './report.ts';
import type { PolicyReportSources } from './sources.ts';

const pod = (name: string, ip: string): [string, PolicyPod] => [
  `red/${name}`,
  {
    ...{ namespace: 'red', name, labels: {}, isLocal: true, finished: false, ports: [] },
    addresses: new Map([['red/net', [parseIp(ip)]]]),
  },
];
const PODS = new Map([pod('app', '10.20.1.4'), pod('web', '10.20.1.3')]);

const admin = (more: Partial<AdminRuleFact>): AdminRuleFact => ({
  ...{ network: 'red_net', direction: 'Ingress', family: 4, tier: 'admin', priority: 31_000, action: 'deny' },
  ...{ subjects: 's1', peers: { kind: 'any' }, policy: 'AdminNetworkPolicy/keep' },
  ...more,
});

const NAME = parseDomainName('www.example.com');
const STATE: DomainState = {
  ...{ kind: 'failed', addresses: ['192.0.2.1', '10.20.1.9'].map(parseIp), answeredAgo: 61_900 },
  ...{ problem: 'A: 192.0.2.53: SERVFAIL', since: 1, notes: ['left out: …'] },
};

/** red/web is the subject; red/app is in the set `apps`. */
const sources = (
  rules: readonly AdminRuleFact[],
  { isIsolated = false, refused = '' }: { isIsolated?: boolean; refused?: string } = {},
): PolicyReportSources => {
  const { facts } = new TestCluster('n1')
    .namespace('red', true)
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });
  for (const [index, rule] of rules.entries()) facts.set('adminRule', `a${index}`, rule);
  for (const [id, policy, tier] of [
    ['s1', 'AdminNetworkPolicy/keep', 'admin'],
    ['s2', 'BaselineAdminNetworkPolicy/default', 'baseline'],
  ] as const)
    facts.set('subjectSet', id, { network: 'red_net', policy, tier, drops: [] });
  facts.set('peerSet', 'apps', { network: 'red_net', families: [4], selects: 'pods app=app' });
  facts.set('policyPeer', 'red/app', { sets: new Map([['apps', [parseIp('10.20.1.4')]]]) });
  facts.set('policyRule', 'r1', {
    ...{ network: 'red_net', direction: 'Ingress', family: 4, peers: { kind: 'any' } },
    l4: { protocol: 'tcp', ports: [80] },
  });
  facts.set('podPolicy', 'red/web', {
    ...{ network: 'red_net', isolated: isIsolated ? ['Ingress'] : [], denyGroup: isIsolated ? 'g' : '' },
    ...{ rules: isIsolated ? ['r1'] : [], subjects: ['s1', 's2'] },
  });
  const status = (owner: string) => (owner === refused ? { kind: 'failed' as const, message: 'it is refused' } : DONE);
  return {
    facts,
    reconcilers: new Map([['northbound', fakeReconciler({ status })]]),
    ...{ node: noPolicies.node, cluster: noPolicies.cluster, failureToFollow: noPolicies.failureToFollow },
    failureToHear: noPolicies.failureToHear,
    policyLookup: { ...noPolicies.policyLookup, pods: () => PODS, pod: (key) => PODS.get(key) },
    ownersOver: (subject, key) => [`${subject}:${key}`],
    domainState: (name) => (name === NAME ? STATE : undefined),
  };
};

const end = (its: PolicyReportSources, port?: number) =>
  reportPodEnd(its, {
    ...{ pod: 'red/web', direction: 'Ingress', peer: 'red/app' },
    ...(port !== undefined && { packet: { protocol: 'tcp', port } }),
  });
const DENY_APPS = admin({ peers: { kind: 'set', set: 'apps' } });
const BASELINE = admin({ tier: 'baseline', subjects: 's2', policy: 'BaselineAdminNetworkPolicy/default' });

it('what is written may not be in effect while a daemon does not follow', () => {
  const its = { ...sources([DENY_APPS]), failureToFollow: () => 'ovn-northd has stopped' };
  expect(end(its, 80)).toMatchObject({ verdict: 'denied', notProgrammed: 'ovn-northd has stopped' });
  expect(reportPolicies(its)).toMatchObject({ doubt: 'ovn-northd has stopped' });
  expect(reportPolicies(sources([DENY_APPS]))).not.toHaveProperty('doubt');
  const cutOff = { ...sources([DENY_APPS]), failureToHear: () => 'the API server does not answer' };
  expect(reportPolicies(cutOff)).toMatchObject({ doubt: 'the API server does not answer' });
});

describe('an end that administrators decide about', () => {
  it('is denied though a network policy allows it', () => {
    const found = end(sources([DENY_APPS], { isIsolated: true }), 80);
    expect(found).toMatchObject({
      verdict: 'denied',
      message: 'AdminNetworkPolicy/keep denies red/app to red/web on TCP 80',
      families: [
        {
          lets: [],
          admin: [{ policy: 'AdminNetworkPolicy/keep', action: 'deny', text: 'from pods app=app, all traffic' }],
          rules: [{ id: 'r1', lacks: 'a policy of administrators decides before it' }],
        },
      ],
    });
  });

  it('is denied though no network policy isolates the pod', () =>
    expect(end(sources([DENY_APPS]), 80).verdict).toBe('denied'));

  it('is allowed though network policies do not', () => {
    const allow = admin({ action: 'allow', l4: { protocol: 'tcp', ports: [81] } });
    const its = sources([allow], { isIsolated: true });
    expect(end(its, 81)).toMatchObject({
      verdict: 'allowed',
      message: 'AdminNetworkPolicy/keep allows red/app to red/web on TCP 81',
    });
  });

  it.each([
    ['passed to network policies', [admin({ action: 'pass', priority: 31_001 }), DENY_APPS], true, 'allowed'],
    ['passed to the baseline', [admin({ action: 'pass', priority: 31_001 }), DENY_APPS, BASELINE], false, 'denied'],
    ['isolated, so that the baseline is not asked', [BASELINE], true, 'allowed'],
    ['not isolated, so that the baseline decides', [BASELINE], false, 'denied'],
    ['another direction', [admin({ direction: 'Egress' })], false, 'open'],
    ['another peer', [admin({ peers: { kind: 'blocks', blocks: [parseCidr('192.0.2.0/24')] } })], false, 'open'],
    ['an address of a node', [admin({ peers: { kind: 'nodes', addresses: [parseIp('10.20.1.4')] } })], false, 'denied'],
    ['another family', [admin({ family: 6 })], false, 'open'],
    ['subjects that it is not one of', [admin({ subjects: 's3' })], false, 'open'],
  ] as const)('is %s', (_, rules, isIsolated, verdict) =>
    expect(end(sources(rules, { isIsolated }), 80).verdict).toBe(verdict),
  );

  it('has all ports but those that are denied', () => {
    const found = end(sources([admin({ l4: { protocol: 'tcp', ports: [80] } })]));
    expect(found).toMatchObject({
      verdict: 'partly',
      message: 'a part of red/app to red/web passes, by AdminNetworkPolicy/keep',
    });
    expect(found.families[0]?.lets).toHaveLength(5);
  });

  it.each(['adminRule:a0', 'subjectSet:s1'])('says that %s is not programmed', (refused) =>
    expect(end(sources([DENY_APPS], { refused })).notProgrammed).toBe('it is refused'),
  );

  it('is the same in a matrix', () => {
    const { ends } = reportPolicyMatrix(sources([DENY_APPS]), 'red');
    const verdicts = ends.map(({ pod: own, direction, verdict }) => `${own} ${direction} ${verdict}`);
    expect(verdicts).toContain('red/web Ingress denied');
    expect(verdicts).toContain('red/web Egress open');
  });
});

describe('administrators’ policies of a node', () => {
  const keep = { policy: 'AdminNetworkPolicy/keep', tier: 'admin', targets: ['red/web'], ruleCount: 1 };

  it('are those with subjects here, and of a pod its own', () => {
    const its = sources([DENY_APPS], { refused: 'adminRule:a0' });
    expect(reportPolicies(its).admin).toMatchObject([
      { ...keep, state: 'error', message: 'it is refused', rules: [] },
      { policy: 'BaselineAdminNetworkPolicy/default', tier: 'baseline', ruleCount: 0, state: 'ready' },
    ]);
    expect(reportPolicies(its, { pod: 'red/web' }).admin).toHaveLength(2);
    expect(reportPolicies(its, { pod: 'red/app' }).admin).toEqual([]);
  });

  it('have their rules by name, and by the sets that ACLs name', () => {
    const its = sources([DENY_APPS]);
    const subjectSet = subjectSetName('s1', 4);
    const rules = [{ id: 'a0', action: 'deny', priority: 31_000, text: 'from pods app=app, all traffic', subjectSet }];
    expect(reportPolicies(its, { policy: 'AdminNetworkPolicy/keep' }).admin).toMatchObject([{ ...keep, rules }]);
    expect(reportPolicies(its, { sets: [subjectSet, 'constructor'] }).admin).toMatchObject([{ ...keep, rules }]);
    expect(reportPolicies(its, { sets: ['other'] }).admin).toEqual([]);
  });

  it('have what the names of their rules stand for, and allow that, but nothing of their own network', () => {
    const sets = [
      { network: 'red_net', name: NAME },
      { network: 'red_net', name: parseDomainName('other.example.com') },
    ];
    const allow = admin({
      direction: 'Egress',
      action: 'allow',
      peers: { kind: 'domains', sets: sets.map(domainSetId) },
    });
    const its = sources([{ ...allow, priority: 31_001 }, admin({ direction: 'Egress' })]);
    for (const set of sets) its.facts.set('domainSet', domainSetId(set), set);
    its.facts.set('domainAddresses', NAME, STATE.addresses);
    const [found] = reportPolicies(its, { policy: 'AdminNetworkPolicy/keep' }).admin ?? [];
    expect(found?.rules.map(({ text }) => text)).toEqual([
      'to www.example.com, other.example.com, all traffic',
      'to everybody, all traffic',
    ]);
    expect(found?.domains).toEqual([
      { name: 'other.example.com', state: 'unresolved', addresses: [], notes: [] },
      {
        ...{ name: 'www.example.com', state: 'failed', addresses: ['192.0.2.1', '10.20.1.9'], answeredSecondsAgo: 61 },
        ...{ problem: 'A: 192.0.2.53: SERVFAIL', notes: ['left out: …'] },
      },
    ]);
    expect(reportPolicies(its).admin?.[0]).not.toHaveProperty('domains');
    const verdict = (peer: string) => reportPodEnd(its, { pod: 'red/web', direction: 'Egress', peer }).verdict;
    expect(['192.0.2.1', '192.0.2.2', '10.20.1.9'].map(verdict)).toEqual(['allowed', 'denied', 'denied']);
  });
});
