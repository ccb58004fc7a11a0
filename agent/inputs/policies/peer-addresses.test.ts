import { describe, expect, it } from 'vitest';
import { parsePodNetworks } from '../../../api/annotations/pod-networks.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { nodeSubnetsId, type PodFact } from '../../model/facts.ts';
import { PolicyWorld } from '../../testing/policy-world.ts';

const ANY = { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] };
const worldOf = () =>
  new PolicyWorld()
    .namespace('red', {})
    .namespace('blue', {})
    .pod('red/db', { ips: { default: ['10.128.0.5'] }, node: 'node1' })
    .policy('red/p', ANY);
const peer = { isLocal: false, node: 'node2', ips: { default: ['10.128.2.7'] } };
const ipsOf = ({ facts }: PolicyWorld, pod: string): unknown[] => [
  ...(facts.get('policyPeer', pod)?.sets.values() ?? []),
];

describe('addresses of peers', () => {
  it('are in the part of the network that their node has', () => {
    const world = worldOf().pod('blue/a', peer);
    expect(ipsOf(world, 'blue/a')).toEqual([['10.128.2.7']]);
    world.facts.set('nodeSubnets', nodeSubnetsId('node2', 'default'), [parseCidr('10.128.4.0/23')]);
    expect(ipsOf(world, 'blue/a')).toEqual([]);
    world.facts.set('nodeSubnets', nodeSubnetsId('node2', 'default'), [parseCidr('10.128.2.0/23')]);
    expect(ipsOf(world, 'blue/a')).toEqual([['10.128.2.7']]);
  });

  it('are those that the port of a pod keeps when its annotation is damaged, and none of a barred one', () => {
    const world = worldOf();
    const entry = { ip_addresses: ['10.128.2.7/23'], mac_address: '0a:58:0a:80:02:07', role: 'primary' };
    const fact: PodFact = {
      ...{
        namespace: 'blue',
        name: 'a',
        uid: 'u',
        runtimeUid: 'u',
        node: 'node2',
        hostNetwork: false,
        finished: false,
      },
      networks: parsePodNetworks(JSON.stringify({ default: entry }), 'blue/a'),
    };
    world.facts.set('pod', 'blue/a', { ...fact, unreadable: 'damaged' });
    world.pod('blue/a', { ...peer, ips: {} });
    expect(ipsOf(world, 'blue/a')).toEqual([['10.128.2.7']]);
    world.facts.set('pod', 'blue/a', { ...fact, barred: 'not its own' });
    world.pod('blue/a', peer);
    expect(ipsOf(world, 'blue/a')).toEqual([]);
  });
});
