import { expect, it } from 'vitest';
import { parseCidr } from '../../../../net/cidr.ts';
import { nodeSubnetsId } from '../../../model/facts.ts';
import { PolicyWorld } from '../../../testing/policy-world.ts';

const VAULTS = { vault: 'yes' };
const start = (): PolicyWorld =>
  new PolicyWorld().adminPolicy('AdminNetworkPolicy', 'd', {
    ...{ priority: 1, subject: { namespaces: {} } },
    egress: [{ action: 'Deny', to: [{ nodes: { matchLabels: VAULTS } }] }],
  });
const peersOf = ({ facts }: PolicyWorld) =>
  [...facts.ids('adminRule')].flatMap((id) => {
    const peers = facts.get('adminRule', id)?.peers;
    return peers?.kind === 'nodes' ? peers.addresses : [];
  });
const give = ({ facts }: PolicyWorld, node: string, subnet: string | undefined) =>
  facts.set('nodeSubnets', nodeSubnetsId(node, 'default'), subnet === undefined ? undefined : [parseCidr(subnet)]);

it('are nodes by the addresses of their management ports, too', () => {
  const world = start()
    .namespace('a', {})
    .node('n1', { labels: VAULTS, ips: ['172.18.0.2'] });
  give(world, 'n1', '10.128.2.0/23');
  give(world, 'n2', '10.128.4.0/23');
  world.pod('a/x', { ips: { default: ['10.128.0.6'] } });
  expect(peersOf(world)).toEqual(['10.128.2.2', '172.18.0.2']);
  world.node('n2', { labels: VAULTS, ips: [] });
  expect(peersOf(world)).toEqual(['10.128.2.2', '10.128.4.2', '172.18.0.2']);
  give(world, 'n1', undefined);
  expect(peersOf(world)).toEqual(['10.128.4.2', '172.18.0.2']);
  give(world, 'n2', '10.128.6.0/23');
  expect(peersOf(world)).toEqual(['10.128.6.2', '172.18.0.2']);
  world.node('n2', { labels: {}, ips: [] });
  expect(peersOf(world)).toEqual(['172.18.0.2']);
});

it.each(['10.128.2.0/30', '192.0.2.0/23'])('takes no address from a node whose part %s is none', (subnet) => {
  const world = start().namespace('a', {}).node('n1', { labels: VAULTS, ips: [] });
  give(world, 'n1', subnet);
  world.pod('a/x', { ips: { default: ['10.128.0.6'] } });
  expect(peersOf(world)).toEqual([]);
});

it('is the own node where every node has the same address', () => {
  const world = start().namespace('t1', {}).network('t1');
  world.pod('t1/x', { ips: { 't1/net': ['10.0.0.6'] } }).node('other', { labels: VAULTS, ips: [] });
  expect(peersOf(world)).toEqual([]);
  world.node('node1', { labels: VAULTS, ips: [] });
  expect(peersOf(world)).toEqual(['10.0.0.2', 'fd00::2']);
  world.network('t1', false);
  expect(peersOf(world)).toEqual([]);
});
