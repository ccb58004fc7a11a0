import { describe, expect, it } from 'vitest';
import type { AdminPolicyStatus, PoliciesStatus, PolicyEndStatus } from '../../api/policy-status.ts';
import { EVERYTHING, without } from '../../net/port-regions.ts';
import { withPolicies } from './in-trace.ts';
import { listPolicies } from './list.ts';
import { showPolicy } from './show.ts';
import { whyOutput } from './why.ts';

const SUBJECTS = `a${'5'.repeat(32)}`;
const rule: AdminPolicyStatus['rules'][number] = {
  ...{ id: 'a0', network: 'red_red', direction: 'Ingress', family: 4, action: 'deny', priority: 31_000 },
  ...{ text: 'from everybody, TCP 80', subjectSet: SUBJECTS },
};
const keep: AdminPolicyStatus = {
  ...{ policy: 'AdminNetworkPolicy/keep', tier: 'admin', targets: ['red/web'], state: 'ready', ruleCount: 2 },
  problems: [],
  rules: [{ ...rule, id: 'a1', priority: 30_999, action: 'pass' }, rule],
};
const agent = (admin: readonly AdminPolicyStatus[]) => ({
  policies: () => Promise.resolve({ isRead: true, policies: [], rules: [], pods: [], admin: [...admin] }),
});

describe('administrators’ policies', () => {
  it('are listed below those of namespaces', async () => {
    expect((await listPolicies(agent([keep]), { all: false })).tables[1]?.rows).toEqual([
      ['AdminNetworkPolicy/keep', 'admin', '1', '2', 'ready'],
    ]);
    expect((await listPolicies(agent([]), { all: false })).tables).toHaveLength(1);
    expect((await listPolicies(agent([keep]), { all: false, namespace: 'red' })).tables).toHaveLength(1);
  });

  it('are closed where they cannot be followed, whatever is programmed', async () => {
    const bad = {
      ...keep,
      policy: 'EgressFirewall/red/default',
      tier: 'firewall' as const,
      problems: ['spec: no', 'b'],
    };
    expect((await listPolicies(agent([bad]), { all: false })).tables[1]?.rows).toEqual([
      ['EgressFirewall/red/default', '1', '2', 'closed: spec: no'],
    ]);
    const { exitStatus, lines } = await showPolicy(agent([bad]), 'EgressFirewall/red/default');
    expect([exitStatus, ...lines.slice(0, 3)]).toEqual([
      ...[1, 'EgressFirewall/red/default, tier firewall: closed: spec: no'],
      ...['  cannot be followed: spec: no', '  cannot be followed: b'],
    ]);
  });

  it('are followed by pods that an error of the agent has closed', async () => {
    const closed = {
      ...{ pod: 'red/web', network: 'red_red', isClosed: true, directions: [], ruleCount: 0, state: 'ready' as const },
    };
    const policies = () => Promise.resolve({ isRead: true, policies: [], rules: [], pods: [closed], admin: [] });
    expect((await listPolicies({ policies }, { all: false })).tables[1]?.rows).toEqual([
      ['red/web', 'red_red', 'closed by an error of the agent: udnctl problems'],
    ]);
    expect((await listPolicies({ policies }, { all: false, namespace: 'blue' })).tables).toHaveLength(1);
  });

  it('are shown with their rules in order', async () => {
    expect(await showPolicy(agent([keep]), 'AdminNetworkPolicy/keep')).toMatchObject({
      exitStatus: 0,
      lines: [
        'AdminNetworkPolicy/keep, tier admin: ready',
        '  pods here: red/web',
        '  Ingress, IPv4, red_red: deny from everybody, TCP 80 (priority 31000)',
        '  Ingress, IPv4, red_red: pass from everybody, TCP 80 (priority 30999)',
      ],
    });
    const domains: AdminPolicyStatus['domains'] = [
      {
        ...{ name: 'a.example', state: 'failed', addresses: ['192.0.2.1', '2001:db8::1'], answeredSecondsAgo: 61 },
        ...{ problem: 'A: SERVFAIL', notes: ['left out: 10.128.0.1 is in the cluster subnet 10.128.0.0/14'] },
      },
      { name: 'b.example', state: 'unresolved', addresses: [], notes: [] },
      { name: 'c.example', state: 'failed', addresses: [], notes: [], problem: 'AAAA: SERVFAIL' },
    ];
    const { lines } = await showPolicy(agent([{ ...keep, domains }]), 'AdminNetworkPolicy/keep');
    expect(lines.slice(4)).toEqual([
      '  a.example: 192.0.2.1, 2001:db8::1 (answered 61 s ago)',
      '    not resolved: A: SERVFAIL',
      '    left out: 10.128.0.1 is in the cluster subnet 10.128.0.0/14',
      '  b.example: no address (not answered yet)',
      '  c.example: no address (never answered)',
      '    not resolved: AAAA: SERVFAIL',
    ]);
    await expect(showPolicy(agent([]), 'AdminNetworkPolicy/none')).rejects.toThrow(
      'does not know pods that AdminNetworkPolicy/none is about',
    );
  });

  it.each([
    [
      `dropped by an ACL of switch n1 (priority 31000, ip4.dst == $${SUBJECTS} && tcp)`,
      'denied: from everybody, TCP 80, by AdminNetworkPolicy/keep',
    ],
    [
      `ACL (priority 30999): ip4.dst == $${SUBJECTS} && tcp`,
      'passed on to the next tier: from everybody, TCP 80, by AdminNetworkPolicy/keep',
    ],
    [
      `  6 ls_out_acl_eval: ip4.dst == $${SUBJECTS} (priority 32000)`,
      'denied: from everybody, TCP 80, by AdminNetworkPolicy/keep',
    ],
    [
      `ACL (priority 32767): ip4.src == 10.0.0.2 && ip4.dst == $${SUBJECTS}`,
      'of the subjects of AdminNetworkPolicy/keep, none of its rules',
    ],
  ])('are named in a trace: %s', (line, text) => {
    const status = { isRead: true, policies: [], rules: [], pods: [], admin: [keep] };
    const traced = withPolicies({ data: {}, lines: [line] }, status, { from: undefined, addresses: new Map() });
    expect(traced.lines[1]?.trim()).toBe(`→ ${text}`);
  });
});

it('MultiNetworkPolicies are named in a trace, by sets of addresses and by groups of ports', () => {
  const targetSet = `a${'7'.repeat(32)}`;
  const rule: PoliciesStatus['rules'][number] = {
    ...{ id: 'r', network: 'red_flat', direction: 'Ingress', family: 4, peers: 'everybody', ports: 'TCP 80' },
    ...{ targets: ['red/web'], policies: ['MultiNetworkPolicy/red/web'], targetSet, state: 'ready' },
  };
  const status = { isRead: true, policies: [], rules: [rule], pods: [] };
  for (const line of [
    `ACL: ip4.dst == $${targetSet} && tcp`,
    `ACL: tcp && tcp.dst == 80 && ip4 && outport == @${targetSet}`,
  ])
    expect(withPolicies({ data: {}, lines: [line] }, status, { from: undefined, addresses: new Map() }).lines[1]).toBe(
      '→ allowed from everybody, TCP 80, by MultiNetworkPolicy/red/web',
    );
});

describe('policy why', () => {
  const end = (more: Partial<PolicyEndStatus>): PolicyEndStatus => ({
    ...{ pod: 'red/app', direction: 'Egress', peer: 'red/web', verdict: 'open', message: 'it is open' },
    ...{ isolatedBy: [], peerAddresses: [], families: [] },
    ...more,
  });
  const byAdmin: NonNullable<PolicyEndStatus['families'][number]['admin']>[number] = {
    ...{ id: 'a0', text: 'from everybody, TCP 80', policy: 'AdminNetworkPolicy/keep' },
    ...{ tier: 'admin', action: 'deny' },
  };

  it('names the rule that denies, and does not ask for one that allows', () => {
    const ingress = end({
      ...{ pod: 'red/web', direction: 'Ingress', verdict: 'denied', message: 'AdminNetworkPolicy/keep denies it' },
      families: [{ family: 4, verdict: 'denied', lets: [], admin: [byAdmin], rules: [] }],
    });
    const output = whyOutput({ egress: end({}), ingress }, undefined);
    expect(output.exitStatus).toBe(1);
    expect(output.lines).toEqual([
      'red/app to red/web: denied: AdminNetworkPolicy/keep denies it',
      '  egress of red/app: open: it is open',
      '  ingress of red/web: denied: AdminNetworkPolicy/keep denies it',
      '    IPv4: denied by the rule "from everybody, TCP 80" of AdminNetworkPolicy/keep',
    ]);
  });

  it('says which ports are left', () => {
    const lets = [...without([EVERYTHING], [{ protocol: 'tcp', first: 80, last: 80 }])];
    const families: PolicyEndStatus['families'] = [{ family: 4, verdict: 'partly', lets, admin: [byAdmin], rules: [] }];
    const output = whyOutput({ egress: end({}), ingress: end({ verdict: 'partly', families }) }, undefined);
    expect(output.lines[0]).toBe('red/app to red/web: allowed in part: all but TCP 80');
  });
});
