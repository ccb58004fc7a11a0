/** What firewalls make of answers about policies. */
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { parseDomainName, parseWildcardName } from '../../../net/domain-name.ts';
import { parseIp } from '../../../net/ip.ts';
import type { DomainState } from '../../dns/types.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import type { Problem } from '../../inputs/problem.ts';
import { externalAddressId } from '../../model/facts.ts';
import type { AdminRuleFact } from '../../model/policies/facts.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { noPolicies } from '../testing/no-policies.ts';
import { reportPolicyMatrix } from './matrix.ts';
import { reportPodEnd } from './pod-end.ts';
import { reportPolicies } from './report.ts';
import type { PolicyReportSources } from './sources.ts';

const POLICY = 'EgressFirewall/red/default';
const firewall = (index: number, more: Partial<AdminRuleFact>): AdminRuleFact => ({
  ...{ network: 'red_net', direction: 'Egress', family: 4, tier: 'firewall', priority: 10_000 - index, action: 'deny' },
  ...{ subjects: 's1', peers: { kind: 'any' }, policy: POLICY },
  ...more,
});
const RULES = [
  firewall(0, {
    ...{ action: 'allow', peers: { kind: 'blocks', blocks: [parseCidr('192.0.2.0/24')] } },
    l4: { protocol: 'tcp', ports: [443] },
  }),
  firewall(1, {}),
];
const PODS = new Map<string, PolicyPod>(
  ['web', 'app'].map((name) => [
    `red/${name}`,
    { ...{ namespace: 'red', name, labels: {}, isLocal: true, finished: false, ports: [] }, addresses: new Map() },
  ]),
);

const sources = (isIsolated: boolean, more: readonly AdminRuleFact[] = []): PolicyReportSources => {
  const { facts } = new TestCluster('n1')
    .namespace('red', true)
    .gateway('n1', { addresses: ['198.51.100.1/24'], nextHops: ['198.51.100.254'] })
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });
  for (const [index, rule] of [...RULES, ...more].entries()) facts.set('adminRule', `r${index}`, rule);
  facts.set('subjectSet', 's1', { network: 'red_net', policy: POLICY, tier: 'firewall', drops: ['r1'] });
  facts.set('podPolicy', 'red/web', {
    ...{ network: 'red_net', isolated: isIsolated ? ['Egress'] : [], denyGroup: isIsolated ? 'g' : '' },
    ...{ rules: [], subjects: ['s1'] },
  });
  return {
    ...{
      facts,
      reconcilers: new Map(),
      ...noPolicies,
      cluster: parseClusterConfig({ serviceSubnets: '172.16.1.0/24' }),
    },
    policyLookup: { ...noPolicies.policyLookup, pods: () => PODS, pod: (key) => PODS.get(key) },
  };
};
const ask = (its: PolicyReportSources, peer: string, port = 443) =>
  reportPodEnd(its, { pod: 'red/web', direction: 'Egress', peer, packet: { protocol: 'tcp', port } });

describe('a firewall', () => {
  it.each([
    ['192.0.2.7', 443, 'allowed', `${POLICY} allows red/web to 192.0.2.7 on TCP 443`],
    ['192.0.2.7', 80, 'denied', `${POLICY} denies red/web to 192.0.2.7 on TCP 80`],
    ['198.51.100.1', 443, 'denied', `${POLICY} denies red/web to 198.51.100.1 on TCP 443`],
  ])('decides about %s, port %i: %s', (peer, port, verdict, message) => {
    expect(ask(sources(false), peer, port)).toMatchObject({ verdict, message });
  });

  it.each(['10.20.9.9', '172.16.1.10'])('is not about %s, which is of the cluster', (peer) => {
    expect(ask(sources(false), peer)).toMatchObject({ verdict: 'open', families: [] });
  });

  it('is asked about the endpoints of a Service, as is every policy, and not about its addresses', () => {
    const its = sources(true);
    const service = {
      name: 'web',
      namespace: 'red',
      affinitySeconds: undefined,
      healthCheckNodePort: undefined,
    } as const;
    const ports = [{ name: '', protocol: 'TCP', port: 443 }] as const;
    const policies = { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster', createdAt: '' } as const;
    const addresses = { clusterIps: ['172.16.1.10'].map(parseIp), externalIps: ['192.0.2.7'].map(parseIp) };
    const fact = { ...service, ...policies, ...addresses, ports, loadBalancerIps: [] };
    its.facts.set('service', 'red/web', fact);
    const endpoints = ['10.20.1.5', '10.20.2.5'].map((ip) => ({ ip: parseIp(ip) }));
    const slice = { name: 's', family: 4, ports: [{ ...ports[0], port: 8443 }], terminating: [] } as const;
    its.facts.set('serviceSlices', 'red/web', [
      { ...slice, madeFor: 'primary', network: 'red_net', ready: endpoints },
      { ...slice, madeFor: 'default', ready: [{ ip: parseIp('10.128.0.5') }] },
    ]);
    const about =
      'of Service red/web, and policies decide about its endpoints: ask with 10.20.1.5:8443, 10.20.2.5:8443';
    expect(ask(its, '172.16.1.10')).toMatchObject({
      ...{ verdict: 'unknown', message: `172.16.1.10 is the ClusterIP ${about}`, families: [] },
    });
    expect(ask(its, '192.0.2.7')).toMatchObject({ verdict: 'unknown', message: `192.0.2.7 is an address ${about}` });
    // No load balancer has this port, nor that of a Service of another network.
    expect(ask(its, '172.16.1.10', 80)).toMatchObject({ verdict: 'denied' });
    its.facts.set('service', 'blue/web', { ...fact, namespace: 'blue', clusterIps: ['172.16.1.11'].map(parseIp) });
    expect(ask(its, '172.16.1.11')).toMatchObject({ verdict: 'denied' });
    its.facts.set('serviceSlices', 'red/web', undefined);
    expect(ask(its, '172.16.1.10')).toMatchObject({
      verdict: 'unknown',
      message: expect.stringContaining('it has none'),
    });
  });

  it('is asked about an address and a node port of a Service, where this node does not translate it', () => {
    const its = sources(false);
    const { facts } = its;
    for (const ip of ['198.51.100.1', '198.51.100.2'].map(parseIp)) facts.set('nodeAddress', ip, true);
    const policies = { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster', createdAt: '' } as const;
    facts.set('service', 'red/web', {
      ...{ name: 'web', namespace: 'red', affinitySeconds: undefined, healthCheckNodePort: undefined, ...policies },
      ports: [{ name: '', protocol: 'TCP', port: 443, nodePort: 30_443 }],
      ...{ clusterIps: [parseIp('172.16.1.10')], loadBalancerIps: [] },
      // Of a node, of the Service subnets, and somebody else's.
      externalIps: ['198.51.100.2', '172.16.1.77', '192.0.2.8', '192.0.2.9'].map(parseIp),
    });
    facts.set('externalAddress', externalAddressId(parseIp('192.0.2.8'), { protocol: 'TCP', port: 443 }), 'blue/web');
    for (const [peer, verdict] of [
      ['198.51.100.2', 'denied'],
      ['172.16.1.77', 'open'],
      ['192.0.2.8', 'allowed'],
      ['192.0.2.9', 'unknown'],
    ] as const)
      expect([peer, ask(its, peer).verdict]).toEqual([peer, verdict]);
    expect(ask(its, '198.51.100.1', 30_443)).toMatchObject({
      ...{
        verdict: 'unknown',
        message: expect.stringMatching(/^TCP 30443 of this node is a node port of Service red/),
      },
    });
    // As an entry point of another node it is translated there; and this node's other ports are its own.
    expect(ask(its, '198.51.100.2', 30_443)).toMatchObject({ verdict: 'denied' });
    expect(ask(its, '198.51.100.1', 30_444)).toMatchObject({ verdict: 'denied' });
  });

  it('opens nothing that network policies close, or administrators', () => {
    expect(ask(sources(true), '192.0.2.7')).toMatchObject({ verdict: 'denied', families: [{ lets: [] }] });
    const admin = { tier: 'admin', priority: 31_000, policy: 'AdminNetworkPolicy/keep' } as const;
    const denied = ask(sources(false, [firewall(0, { ...admin, action: 'deny' })]), '192.0.2.7');
    expect(denied).toMatchObject({
      verdict: 'denied',
      message: expect.stringContaining('AdminNetworkPolicy/keep denies'),
    });
    const allowed = ask(sources(false, [firewall(0, { ...admin, action: 'allow' })]), '198.51.100.1');
    expect(allowed).toMatchObject({ verdict: 'denied', message: expect.stringContaining(`${POLICY} denies`) });
  });

  it('is no part of a matrix of pods', () => {
    const { ends } = reportPolicyMatrix(sources(false), 'red');
    expect(ends.filter(({ families }) => families.some(({ admin = [] }) => admin.length > 0))).toEqual([]);
  });

  it('is listed with its rules and pods', () => {
    expect(reportPolicies(sources(false), { policy: POLICY }).admin).toMatchObject([
      {
        ...{ policy: POLICY, tier: 'firewall', problems: [], targets: ['red/web'], ruleCount: 2 },
        rules: [{ priority: 10_000 }, {}],
      },
    ]);
  });

  it('names with an answer what of it cannot be followed: no rule says so', () => {
    const its = sources(false);
    const problems = (): readonly Problem[] => [
      { object: 'EgressFirewall/blue/default', message: 'another' },
      { object: POLICY, message: 'a note', severity: 'warning' },
      { object: POLICY, message: 'spec.egress[0].to.dnsName: is a wildcard; the rule allows nothing' },
    ];
    const asked = { ...its, policyLookup: { ...its.policyLookup, problems } };
    expect(ask(asked, '198.51.100.1')).toMatchObject({
      ...{ verdict: 'denied' },
      notFollowed: [`${POLICY}: spec.egress[0].to.dnsName: is a wildcard; the rule allows nothing`],
    });
    expect(reportPodEnd(asked, { pod: 'red/web', direction: 'Ingress', peer: '198.51.100.1' }).notFollowed).toBe(
      undefined,
    );
  });

  it('names with an answer a wildcard that nobody has answered for, and none that somebody has', () => {
    const name = parseWildcardName('*.example.com');
    const its = sources(false, [firewall(2, { action: 'allow', peers: { kind: 'domains', sets: ['d1'] } })]);
    its.facts.set('domainSet', 'd1', { network: 'red_net', name, isForFirewalls: true });
    const problem = 'no plugin has answered yet';
    const unanswered = { ...its, domainState: () => ({ kind: 'unresolved', addresses: [], problem }) as const };
    expect(ask(unanswered, '198.51.100.1')).toMatchObject({
      ...{ verdict: 'denied' },
      notFollowed: [`${POLICY}: *.example.com: no plugin has answered yet; the rule allows nothing by it`],
    });
    const answered = { ...its, domainState: () => ({ kind: 'resolved', addresses: [] }) as const };
    expect(ask(answered, '198.51.100.1').notFollowed).toBe(undefined);
  });

  it('names with an answer a name without an address, by which a rule denies nothing', () => {
    const name = parseDomainName('www.example.com');
    const its = sources(false, [firewall(2, { action: 'deny', peers: { kind: 'domains', sets: ['d1'] } })]);
    its.facts.set('domainSet', 'd1', { network: 'red_net', name, isForFirewalls: true });
    const asked = (state: DomainState) => ask({ ...its, domainState: () => state }, '192.0.2.7').notFollowed;
    const text = `${POLICY}: www.example.com: no address is known`;
    expect(asked({ kind: 'resolved', addresses: [] })).toEqual([`${text}; the rule applies to nothing by it`]);
    expect(asked({ kind: 'failed', addresses: [], problem: 'A: SERVFAIL' })).toEqual([
      `${text} (A: SERVFAIL); the rule applies to nothing by it`,
    ]);
    const state = { domainState: () => ({ kind: 'resolved', addresses: [] }) as const };
    expect(reportPolicies({ ...its, ...state }).admin).toMatchObject([
      { policy: POLICY, state: 'ready', nameless: 'www.example.com' },
    ]);
    expect(asked({ kind: 'failed', addresses: ['192.0.2.9'].map(parseIp), problem: 'A: SERVFAIL' })).toBe(undefined);
  });

  it('is listed with what of it cannot be followed, and nothing of others or of notes', () => {
    const its = sources(false);
    const problems = (): readonly Problem[] => [
      { object: 'AdminNetworkPolicy/keep', message: 'another' },
      { object: POLICY, message: 'a note', severity: 'warning' },
      { object: POLICY, message: 'spec.egress[0].to: is none' },
    ];
    const found = reportPolicies({ ...its, policyLookup: { ...its.policyLookup, problems } });
    expect(found.admin).toMatchObject([{ policy: POLICY, problems: ['spec.egress[0].to: is none'] }]);
  });
});
