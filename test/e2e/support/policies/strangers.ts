/** Who is not meant by a policy: tenants with the same addresses, senders with another one's address. And policies that nobody can read. */
import { describe, expect, it } from 'vitest';
import { FAMILIES, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { expectAnswers } from '../../../oracles/policies/expected.ts';
import { answersTo } from '../../../oracles/policies/run.ts';
import { someOf } from '../cluster/sample.ts';
import { eventsOf } from '../faults/events.ts';
import { forgeAddress } from '../hostile/forgery.ts';
import { arrivals, describePacket, type Packet } from '../packets/packets.ts';
import { networkPolicy } from './manifests.ts';
import { attempts, type Member, POLICY_TENANTS } from './members.ts';
import { addressesInSets } from './rows.ts';
import { app, EVERY, FRIENDS, withPolicies } from './with-policies.ts';

const NODES = ['node-1', 'node-2'] as const;
const DEVICES = { red: 'ovn-udn1', green: 'ovn-udn1', plain: 'eth0' } as const;

/** Call it where tests are declared. */
export const policyStrangers = (cluster: () => Sandbox, member: (name: string) => Member): void => {
  it('pods of another network with the same addresses are no peers, whatever namespaces are selected', async () => {
    const before = await Promise.all(NODES.map((node) => addressesInSets(cluster(), node)));
    const fromAll = networkPolicy('red', 'from-all', {
      ...{ podSelector: EVERY, policyTypes: ['Ingress', 'Egress'] },
      ...{ ingress: [{ from: [{ namespaceSelector: EVERY }] }], egress: [{ to: [{ namespaceSelector: EVERY }] }] },
    });
    const own = new Set(
      ['client', 'friend', 'server', 'other', 'many'].flatMap((name) => member(`red-${name}`).addresses),
    );
    const others = ['blue-1', 'blue-2', 'blue-3', 'blue-4', 'shop-web', 'plain-client'].map(member);
    expect(others.flatMap(({ addresses }) => addresses).some((address) => !own.has(address))).toBe(true);
    await withPolicies(cluster(), [fromAll], async () => {
      await expectAnswers(cluster(), attempts(member('red-client'), member('red-server'), true));
      const tried = others.flatMap((one) => attempts(one, member('red-server'), false));
      // Their own pods may answer there, at the same address.
      const answers = await answersTo(cluster(), tried, { timeoutMs: 500, tries: 1 });
      expect(answers.filter((answer) => answer?.startsWith('red-'))).toEqual([]);
      for (const [index, node] of NODES.entries()) {
        const added = (await addressesInSets(cluster(), node)).filter((address) => !before[index]?.includes(address));
        expect(added.length).toBeGreaterThan(0);
        expect(added.filter((address) => !own.has(address))).toEqual([]);
      }
    });
  });

  describe.each(someOf(POLICY_TENANTS, 1))('a stranger of %s', (tenant) => {
    it.each(FAMILIES)('that sends as a friend gets nothing through, IPv%s', async (family) => {
      const friends = networkPolicy(tenant, 'friends', { podSelector: app('web'), ingress: [{ from: [FRIENDS] }] });
      const [from, friend, to] = ['client', 'friend', 'server'].map((name) => member(`${tenant}-${name}`)) as [
        Member,
        Member,
        Member,
      ];
      const of = ({ addresses }: Member): Ip => addresses.map(parseIp).find((ip) => ipFamily(ip) === family) as Ip;
      const packets: Packet[] = [
        { from: from.key, to: to.key, address: of(to), protocol: 'udp' },
        { from: from.key, to: to.key, address: of(to), protocol: 'icmp' },
      ];
      // It knows the way, and the next hop's MAC address.
      expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket));
      await withPolicies(cluster(), [friends], async () => {
        await expectAnswers(cluster(), [...attempts(from, to, false), ...attempts(friend, to, true)]);
        const route = { pod: from.key, device: DEVICES[tenant], to: of(to) };
        const undo = await forgeAddress(cluster(), route, of(friend));
        try {
          expect(await arrivals(cluster(), packets)).toEqual([]);
        } finally {
          await undo();
        }
      });
    });
  });

  it.each(someOf(POLICY_TENANTS, 1))(
    'a policy of %s that cannot be read isolates its pods, allows nothing and says so',
    (tenant) => {
      const unreadable = networkPolicy(tenant, 'unreadable', {
        ...{ podSelector: app('web'), policyTypes: ['Ingress'] },
        ingress: [{ from: [FRIENDS, { ipBlock: { cidr: 'nonsense' } }] }],
      });
      return withPolicies(cluster(), [unreadable], async () => {
        const [friend, server, other] = ['friend', 'server', 'other'].map((name) => member(`${tenant}-${name}`)) as [
          Member,
          Member,
          Member,
        ];
        await expectAnswers(cluster(), [
          ...attempts(friend, server, false),
          ...attempts(server, friend, true),
          ...attempts(friend, other, true),
        ]);
        await eventually(async () => {
          const warnings = (await eventsOf(cluster(), tenant, 'unreadable')).filter(({ type }) => type === 'Warning');
          expect(warnings.map(({ message }) => message).join('\n')).toMatch(/nonsense|cidr/);
        });
      });
    },
  );
};
