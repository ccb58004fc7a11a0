import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { nodeSubnetsId } from '../../model/facts.ts';
import { PolicyWorld } from '../../testing/policy-world.ts';

const FROM_ALL = { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] };
const HOST = { isHost: true as const, node: 'h1', labels: { app: 'router' } };
const H1 = ['10.128.2.2', '192.0.2.11'];

const worldOf = () =>
  new PolicyWorld()
    .namespace('red', {})
    .pod('red/a', { ips: { default: ['10.128.0.5'] } })
    .policy('red/p', FROM_ALL);
const ipsOf = ({ facts }: PolicyWorld, pod: string): unknown[] => [
  ...(facts.get('policyPeer', pod)?.sets.values() ?? []),
];

describe('a host-network pod as a peer', () => {
  it('is what its node has on the default network, and what the node has itself, and follows it', () => {
    const world = worldOf().namespace('blue', {}).pod('blue/h', HOST);
    expect(ipsOf(world, 'blue/h')).toEqual([H1]);
    world.facts.set('hostAddresses', 'h1', [parseInterfaceAddress('192.0.2.99/24')]);
    world.facts.set('nodeSubnets', nodeSubnetsId('h1', 'default'), [parseCidr('10.128.8.0/23')]);
    expect(ipsOf(world, 'blue/h')).toEqual([['10.128.8.2', '192.0.2.99']]);
    world.pod('blue/h', { ...HOST, finished: true });
    expect(ipsOf(world, 'blue/h')).toEqual([]);
  });

  it('is none before it has a node, nor where its namespace has a network of its own', () => {
    const world = worldOf().namespace('blue', {}).pod('blue/h', { isHost: true });
    world
      .network('t1')
      .namespace('t1', {})
      .pod('t1/h', HOST)
      .pod('t1/a', { ips: { 't1/net': ['10.0.0.5'] } });
    world.policy('t1/p', FROM_ALL);
    expect([ipsOf(world, 'blue/h'), ipsOf(world, 't1/h')]).toEqual([[], []]);
  });

  it('is isolated by no policy', () => {
    const world = worldOf().pod('red/h', HOST);
    expect([world.facts.get('podPolicy', 'red/h'), world.facts.get('decidedPod', 'red/h')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(ipsOf(world, 'red/h')).toEqual([H1]);
  });

  it('is none of a policy of administrators, though that selects the same', () => {
    const world = worldOf().pod('red/h', HOST).policy('red/p', undefined);
    const ingress = [{ action: 'Deny', from: [{ namespaces: {} }] }];
    world.adminPolicy('AdminNetworkPolicy', 'd', { priority: 1, subject: { namespaces: {} }, ingress });
    expect([ipsOf(world, 'red/h'), ipsOf(world, 'red/a')]).toEqual([[], [['10.128.0.5']]]);
    world.policy('red/p', FROM_ALL);
    expect([ipsOf(world, 'red/h').length, ipsOf(world, 'red/a').length]).toEqual([1, 2]);
  });
});
