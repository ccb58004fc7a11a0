import { describe, expect, it } from 'vitest';
import type { AdminPolicyStatus, PoliciesStatus } from '../../api/policy-status.ts';
import { policyChecks } from './policy-checks.ts';
import type { ExplainSources } from './sources.ts';
import { memoryTables } from './testing/memory-tables.ts';

describe('network policies', () => {
  const group = `a${'1'.repeat(32)}`;
  const isolated: PoliciesStatus = {
    isRead: true,
    policies: [
      {
        ...{ namespace: 'red', name: 'deny', types: ['Ingress'], problems: [], notes: [], targets: ['red/a'] },
        ...{ ruleCount: 1, peerPods: 0, state: 'ready' },
      },
    ],
    rules: [],
    pods: [
      {
        ...{ pod: 'red/a', network: 'red_red', ruleCount: 1, state: 'ready' },
        directions: [{ direction: 'Ingress', policies: ['red/deny'], denyGroup: group }],
      },
    ],
  };
  const PORT = ['uuid', 'p'];
  const withGroup = (ports: unknown) =>
    memoryTables({
      Logical_Switch_Port: [{ name: 'red.red_red_a', _uuid: PORT }],
      Port_Group: [{ name: group, ports }],
    });
  const found = async (status: PoliciesStatus | Error, ports: unknown = PORT) => {
    const policies = () => (status instanceof Error ? Promise.reject(status) : Promise.resolve(status));
    const checks = await policyChecks(
      { agent: { policies }, northbound: withGroup(ports) } as Partial<ExplainSources> as ExplainSources,
      'red/a',
      'red.red_red_a',
    );
    return checks.map(({ state, found: text }) => `${state} ${text}`);
  };

  it('names those that isolate the pod, and looks whether its port is where they drop', async () => {
    expect(await found(isolated)).toEqual([
      'ok isolated: Ingress by red/deny; 1 rule',
      `ok port red.red_red_a is in port group ${group}`,
    ]);
    expect((await found(isolated, ['uuid', 'other']))[1]).toMatch(/^missing port red\.red_red_a is not in port group/);
  });

  it.each([
    [
      'one that cannot be read',
      { policies: isolated.policies.map((one) => ({ ...one, problems: ['no port'] })) },
      'missing red/deny cannot be followed: no port',
    ],
    [
      'one that is not programmed',
      { pods: isolated.pods.map((one) => ({ ...one, state: 'pending' as const })) },
      'missing isolated: Ingress by red/deny; 1 rule; pending: not programmed yet',
    ],
    ['a pod without a network', { pods: [] }, 'missing red/deny isolate it, and it has no network yet'],
    ['none', { policies: [], pods: [] }, 'ok none isolates it'],
    [
      'an error of the agent',
      { policies: [], pods: isolated.pods.map((one) => ({ ...one, isClosed: true, directions: [], ruleCount: 0 })) },
      'missing closed by an error of the agent',
    ],
    [
      'an error of the agent, of a pod with policies',
      { pods: isolated.pods.map((one) => ({ ...one, isClosed: true, ruleCount: 0 })) },
      'missing closed by an error of the agent',
    ],
  ])('says of %s', async (_, more, text) => expect((await found({ ...isolated, ...more }))[0]).toBe(text));

  it('names policies of its secondary networks apart from those of its own', async () => {
    const multi = isolated.policies.map((one) => ({
      ...one,
      kind: 'MultiNetworkPolicy' as const,
      networks: 'red_flat',
    }));
    const attachment = {
      ...{ pod: 'red/a', network: 'red_flat', isAttachment: true, ruleCount: 0, state: 'ready' as const },
      directions: [{ direction: 'Egress' as const, policies: ['MultiNetworkPolicy/red/deny'], denyGroup: group }],
    };
    const only = { ...isolated, policies: multi, pods: [attachment] };
    expect(await found(only)).toEqual([
      'ok none isolates it',
      'ok isolated: Egress by MultiNetworkPolicy/red/deny; 0 rules',
    ]);
    expect(
      await found({ ...isolated, policies: [...isolated.policies, ...multi], pods: [attachment, ...isolated.pods] }),
    ).toEqual([
      'ok isolated: Ingress by red/deny; 1 rule',
      `ok port red.red_red_a is in port group ${group}`,
      'ok isolated: Egress by MultiNetworkPolicy/red/deny; 0 rules',
    ]);
    expect(await found({ ...only, pods: [] })).toEqual([
      'ok none isolates it',
      'missing MultiNetworkPolicy/red/deny isolate it, and it is not on their networks yet',
    ]);
  });

  it('names the administrators’ policies that it is a subject of, and whether they are programmed', async () => {
    const keep: AdminPolicyStatus = {
      ...{ policy: 'AdminNetworkPolicy/keep', problems: [], targets: ['red/a'], ruleCount: 2, rules: [] },
      ...{ tier: 'admin', state: 'ready' },
    };
    const admin = [
      keep,
      { ...keep, nameless: 'www.example.com' },
      { ...keep, state: 'pending' as const, message: 'northbound is not programmed yet' },
    ];
    expect(await found({ ...isolated, policies: [], pods: [], admin })).toEqual([
      'ok none isolates it',
      'ok subject of AdminNetworkPolicy/keep, tier admin, 2 rules',
      'unknown subject of AdminNetworkPolicy/keep, tier admin, 2 rules, and those by names without an address apply to nothing: www.example.com',
      'missing subject of AdminNetworkPolicy/keep, tier admin, 2 rules; pending: northbound is not programmed yet',
    ]);
  });

  it('says of a policy or a firewall that it is closed, and what to correct', async () => {
    const [rules, problems] = [{ ruleCount: 1, rules: [] }, ['spec.egress[0].to: is none']];
    const admin: AdminPolicyStatus[] = (['admin', 'firewall'] as const).map((tier) => ({
      ...{ policy: `${tier}/x`, tier, problems, targets: ['red/a'], state: 'ready', ...rules },
    }));
    expect(await found({ ...isolated, policies: [], pods: [], admin })).toEqual([
      'ok none isolates it',
      'missing subject of admin/x, tier admin, 1 rule; closed: spec.egress[0].to: is none',
      'missing subject of firewall/x, 1 rule; closed: spec.egress[0].to: is none',
    ]);
  });

  it('does not say that none isolates it when they are not known', async () => {
    expect((await found({ ...isolated, isRead: false, policies: [] }))[0]).toMatch(
      /^unknown network policies are not read/,
    );
    expect(await found(new Error('the agent is older'))).toEqual(['unknown the agent is older']);
  });
});
