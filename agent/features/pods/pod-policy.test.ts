import { expect, it } from 'vitest';
import { LOCAL } from '../../model/facts.ts';
import type { PodPolicyFact } from '../../model/policies/facts.ts';
import { denyGroupId, denyGroupName, targetSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';

const GROUP = denyGroupId({ network: 'blue' });
const POLICY: PodPolicyFact = { network: 'blue', isolated: ['Ingress'], denyGroup: GROUP, rules: ['four', 'six'] };

const cluster = (policy: Partial<PodPolicyFact> = {}): TestCluster => {
  const it = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['192.168.1.0/24', 'fd00:1::/64'] } })
    .node('node2', { id: 3 })
    .network('blue', {
      ...{ id: 2, topology: 'layer3', subnets: ['192.168.0.0/16', 'fd00::/48'], namespace: 'blue', nad: 'net' },
    })
    .pod('blue/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' },
        'blue/net': { ips: ['192.168.1.3/24', 'fd00:1::3/64'], role: 'primary' },
      },
    });
  for (const [rule, family] of [
    ['four', 4],
    ['six', 6],
  ] as const) {
    it.facts.set('policyRule', rule, { network: 'blue', direction: 'Ingress', family, peers: { kind: 'any' } });
  }
  it.facts.set('denyGroup', GROUP, { network: 'blue' });
  it.facts.set('podPolicy', 'blue/a', { ...POLICY, ...policy });
  return it;
};

const named = (it: TestCluster, table: string, name: string) =>
  it.render().northbound[table]?.find((row) => row['name'] === name);
const portsOf = (it: TestCluster, direction: 'Ingress' | 'Egress', group = GROUP) =>
  named(it, 'Port_Group', denyGroupName(group, direction))?.['ports'] ?? [];
const targetsOf = (it: TestCluster, rule: string) => named(it, 'Address_Set', targetSetName(rule))?.['addresses'];

it('isolates the primary interface of a pod, and no other, in the directions that policies have', () => {
  const port = 'Logical_Switch_Port/blue.net_blue_a';
  expect(portsOf(cluster(), 'Ingress')).toEqual([port]);
  expect(portsOf(cluster(), 'Egress')).toEqual([]);
  expect(portsOf(cluster({ isolated: ['Ingress', 'Egress'] }), 'Egress')).toEqual([port]);
});

it('makes the pod a target of its rules by its addresses of their families', () => {
  const it = cluster();
  expect([targetsOf(it, 'four'), targetsOf(it, 'six')]).toEqual([['192.168.1.3'], ['fd00:1::3']]);
});

it('renders both with the port, as one owner', () => {
  const it = cluster();
  it.render();
  const fragment = it.sinks.northbound.fragments.get('pods:blue/a');
  expect(fragment?.members?.map(({ table }) => table).sort()).toEqual([
    ...['Address_Set', 'Address_Set', 'Logical_Switch', 'Logical_Switch', 'Port_Group'],
  ]);
});

it('closes a port on another network than the rules are of', () => {
  const other = denyGroupId({ network: 'default' });
  const it = cluster({ network: 'default', denyGroup: other });
  it.facts.set('denyGroup', other, { network: 'default' });
  expect(portsOf(it, 'Ingress', other)).toHaveLength(1);
  expect([targetsOf(it, 'four'), targetsOf(it, 'six')]).toEqual([undefined, undefined]);
});

it('lets no port be without the groups that drop its traffic', () => {
  const it = cluster();
  it.render();
  const rows = it.sinks.northbound.fragments.get('pods:blue/a')?.rows ?? [];
  expect(rows.map(({ needs }) => needs)).toEqual([undefined, [`Port_Group/${denyGroupName(GROUP, 'Ingress')}`]]);
});

it('is about pods of the default network, too, and not about pods of other nodes', () => {
  const it = cluster()
    .pod('ns/b', { node: 'node1', networks: { default: { ips: ['10.128.0.4/23'], role: 'primary' } } })
    .pod('ns/c', { node: 'node2', networks: { default: { ips: ['10.128.2.4/23'], role: 'primary' } } });
  const group = denyGroupId({ network: 'default' });
  it.facts.set('denyGroup', group, { network: 'default' });
  for (const pod of ['ns/b', 'ns/c'])
    it.facts.set('podPolicy', pod, { ...POLICY, network: 'default', denyGroup: group, rules: [] });
  expect(portsOf(it, 'Ingress', group)).toEqual(['Logical_Switch_Port/ns_b']);
});

it('is in the group of all isolated pods, too, where its drops are logged', () => {
  const log = { namespace: 'blue', severity: 'info' } as const;
  const logged = denyGroupId({ network: 'blue', log });
  const it = cluster({ denyGroup: logged });
  it.facts.set('denyGroup', logged, { network: 'blue', log });
  expect([portsOf(it, 'Ingress'), portsOf(it, 'Ingress', logged)].map((ports) => (ports as string[]).length)).toEqual([
    1, 1,
  ]);
  const rows = it.sinks.northbound.fragments.get('pods:blue/a')?.rows ?? [];
  expect(rows.flatMap(({ needs = [] }) => needs)).toHaveLength(2);
});

it('gives a pod no port before anybody knows which policies select it', () => {
  const it = cluster();
  const port = (): unknown => named(it, 'Logical_Switch_Port', 'blue.net_blue_a');
  it.facts.set('policiesFollowed', LOCAL, true);
  expect(port()).toBeUndefined();
  it.facts.set('decidedPod', 'blue/a', true);
  expect(port()).toBeDefined();
});
