import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createConntrack } from '../../datapath/conntrack/conntrack.ts';
import { FakeCommandRunner } from '../../datapath/exec/fake.ts';
import { forgetConnections, removeChassis } from './left-behind.ts';

const noTarget = async (): Promise<readonly string[]> => [];
const cluster = parseClusterConfig();
const { signal } = new AbortController();

it('connections of the gateway bridge’s zones, of pods and of masquerade addresses are forgotten', async () => {
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({}), conntrack: () => ({}) });
  await forgetConnections(createConntrack(runner, noTarget), cluster, signal);
  const commands = runner.commands.map(({ args }) => args.join(' '));
  expect(commands.slice(-6)).toEqual(
    [64_000, 64_001, 64_002, 64_003, 64_004, 64_005].map((zone) => `dpctl/flush-conntrack zone=${zone}`),
  );
  expect(commands.slice(0, -6)).toEqual(
    ['ipv4 --orig-src 169.254.0.0/17', 'ipv4 --orig-dst 169.254.0.0/17']
      .concat(['ipv6 --orig-src fd69::/112', 'ipv6 --orig-dst fd69::/112'])
      .concat(cluster.clusterSubnets.flatMap(({ cidr }) => ['src', 'dst'].map((side) => `ipv4 --orig-${side} ${cidr}`)))
      .map((filter) => `--delete --family ${filter}`),
  );
});

it('a node without conntrack(8) keeps those of the kernel', async () => {
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({}) });
  await forgetConnections(createConntrack(runner, noTarget), cluster, signal);
  expect(runner.commands.filter(({ file }) => file === 'conntrack')).toHaveLength(1);
});

it('of the southbound database this node’s rows go, and no other’s', async () => {
  const asked: unknown[] = [];
  const session = {
    transact: (operations: readonly unknown[]) => {
      asked.push(...operations);
      return Promise.resolve([{ rows: [] }]);
    },
  };
  await removeChassis(session, vswitchWith({ 'system-id': 'one', 'ovn-encap-ip': '172.30.0.2' }), signal);
  expect(asked).toEqual([
    { op: 'delete', table: 'Chassis', where: [['name', '==', 'one']] },
    { op: 'delete', table: 'Chassis_Private', where: [['name', '==', 'one']] },
    { op: 'select', table: 'Chassis_Private', where: [], columns: ['name'] },
  ]);
  const isUsed = removeChassis(session, vswitchWith({ 'system-id': 'one', 'ovn-remote': 'unix:sb.sock' }), signal);
  await expect(isUsed).rejects.toThrow('ovn-controller still has its database');
  expect(asked).toHaveLength(3);
});

it.each([
  [{ 'system-id': 'new' }, 'the system-id of Open vSwitch is now new, and the node is registered as old'],
  [{}, 'Open vSwitch has no system-id, and the node is registered as old'],
])('a chassis of an earlier system-id is not passed over in silence: %o', async (ids, text) => {
  const session = { transact: () => Promise.resolve([{ rows: [{ name: 'old' }] }]) };
  await expect(removeChassis(session, vswitchWith(ids), signal)).rejects.toThrow(`${text}: ovn-sbctl chassis-del old`);
});

const vswitchWith = (ids: Readonly<Record<string, string>>) =>
  ({ rows: () => [{ external_ids: ids }] }) as unknown as Parameters<typeof removeChassis>[1];
