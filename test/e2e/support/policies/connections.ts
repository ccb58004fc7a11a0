/** Policies and connections: behind ClusterIPs, of a pod to itself, and those that are there already. */
import { isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { expectAnswers } from '../../../oracles/policies/expected.ts';
import { restartsOf } from '../cluster/restarts.ts';
import { someOf } from '../cluster/sample.ts';
import { streamWhile } from '../packets/stream.ts';
import { clusterIps } from '../services/services.ts';
import { streamToBreak } from './broken-stream.ts';
import { networkPolicy } from './manifests.ts';
import { attempts, attemptsAt, type Member, POLICY_TENANTS, type Port } from './members.ts';
import { app, DENY_ALL, EVERY, FRIENDS, withPolicies } from './with-policies.ts';

const SERVICE_PORTS: readonly Port[] = [
  ['TCP', 80],
  ['UDP', 53],
];
const NODES = ['node-1', 'node-2'] as const;

/** By the policy of who receives, and by that of who sends. */
const FORBIDDEN = ([4, 6] as const).flatMap((family) => [
  { who: 'the receiver', family, spec: { podSelector: app('web'), ingress: [{ from: [FRIENDS] }] } },
  {
    who: 'the sender',
    family,
    spec: { podSelector: app('client'), policyTypes: ['Egress'], egress: [{ to: [FRIENDS] }] },
  },
]);

/** Call it where tests are declared. */
export const policyConnections = (cluster: () => Sandbox, member: (name: string) => Member): void => {
  const atService = async (from: Member, service: string, answeredBy: string | undefined) =>
    attemptsAt(from, await clusterIps(cluster(), `${from.namespace}/${service}`), answeredBy, SERVICE_PORTS);

  describe.each(POLICY_TENANTS)('Services of %s', (tenant) => {
    const client = (): Member => member(`${tenant}-client`);
    const friend = (): Member => member(`${tenant}-friend`);
    const server = `${tenant}-server`;

    it('are open to whom a policy lets at their pods, by the port of the pods', async () => {
      const toWeb = networkPolicy(tenant, 'to-web', {
        podSelector: app('client'),
        policyTypes: ['Egress'],
        egress: [
          {
            to: [{ podSelector: app('web') }],
            ports: [
              { protocol: 'TCP', port: 8080 },
              { protocol: 'UDP', port: 8081 },
            ],
          },
        ],
      });
      await withPolicies(cluster(), [toWeb], async () =>
        expectAnswers(cluster(), [
          ...(await atService(client(), 'server', server)),
          ...(await atService(friend(), 'server', server)),
          ...(await atService(client(), 'other', undefined)),
          ...(await atService(friend(), 'other', undefined)),
        ]),
      );
      const friends = networkPolicy(tenant, 'friends', { podSelector: app('web'), ingress: [{ from: [FRIENDS] }] });
      await withPolicies(cluster(), [friends], async () =>
        expectAnswers(cluster(), [
          ...(await atService(client(), 'server', undefined)),
          ...(await atService(friend(), 'server', server)),
          ...(await atService(client(), 'other', `${tenant}-other`)),
        ]),
      );
    });

    it('answer the pod that is its own endpoint, whatever policies say', () =>
      withPolicies(cluster(), [networkPolicy(tenant, 'deny', DENY_ALL)], async () =>
        expectAnswers(cluster(), [
          ...(await atService(member(server), 'server', server)),
          ...(await atService(client(), 'server', undefined)),
        ]),
      ));
  });

  describe.each(someOf(POLICY_TENANTS, 1))('connections of %s', (tenant) => {
    it.each(FORBIDDEN)('that become forbidden stop, for $who over IPv$family', async ({ spec, family }) => {
      const ends = {
        from: member(`${tenant}-client`).key,
        to: (member(`${tenant}-server`).addresses.find((address) => isIPv6(address) === (family === 6)) ?? '') as Ip,
      };
      const { broken } = await streamToBreak(cluster(), ends);
      await withPolicies(cluster(), [networkPolicy(tenant, 'friends', spec)], async () => {
        await expectAnswers(cluster(), attempts(member(`${tenant}-client`), member(`${tenant}-server`), false));
        expect(await broken).toBe('silence');
      });
    });
  });

  it('connections that are allowed survive the restart of everything that makes policies', async () => {
    const policies = POLICY_TENANTS.map((tenant) =>
      networkPolicy(tenant, 'friends', {
        ...{ podSelector: EVERY, policyTypes: ['Ingress', 'Egress'] },
        ...{ ingress: [{ from: [FRIENDS] }], egress: [{ to: [{ podSelector: app('web') }] }] },
      }),
    );
    await withPolicies(cluster(), policies, async () => {
      const pairs = POLICY_TENANTS.map((tenant) => [member(`${tenant}-friend`), member(`${tenant}-server`)] as const);
      const strangers = POLICY_TENANTS.flatMap((tenant) =>
        attempts(member(`${tenant}-client`), member(`${tenant}-server`), false),
      );
      await expectAnswers(cluster(), [...pairs.flatMap(([from, to]) => attempts(from, to, true)), ...strangers]);
      const restarted = restartAll();
      const streams = pairs.map(([from, to], index) =>
        streamWhile(cluster(), { from: from.key, to: (to.addresses[index % 2] ?? '') as Ip }, () => restarted),
      );
      expect(await Promise.all(streams)).toEqual(pairs.map(() => 'whole'));
      await expectAnswers(cluster(), strangers);
    });
  });

  const restartAll = async (): Promise<void> => {
    for (const program of ['agent', 'ovn-controller', 'northd'] as const) {
      await Promise.all(
        NODES.map(async (node) => {
          const times = await restartsOf(cluster(), node, program);
          await cluster().kill(node, program, 'SIGKILL');
          await eventually(async () => expect(await restartsOf(cluster(), node, program)).toBe(times + 1));
        }),
      );
    }
    await Promise.all(
      NODES.map((node) =>
        eventually(async () => {
          expect((await cluster().node(node, ['udnctl', 'diff'])).stdout).toMatch(/^no difference\n/);
        }, 30_000),
      ),
    );
  };
};
