import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNodeSubnets, type NodeSubnets } from '../../api/annotations/node-subnets.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import { nodeFacts } from '../facts/node-facts.ts';
import { netConf, node } from '../testing/objects.ts';
import { FIRST_NODE_ID, LAST_NODE_ID, NodeAllocations } from './node-allocations.ts';

const cluster = parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64' });

const layer3 = (name: string, subnets: string): Network => {
  const text = JSON.stringify(netConf('ns/n', name, { topology: 'layer3', subnets }));
  return networkOfNetConf(parseNetConf(text, { namespace: 'ns', name: 'n' })!, cluster);
};

describe('node allocations', () => {
  it('give ids from 2, transit addresses from the id, and one subnet of each family', () => {
    const nodes = new NodeAllocations(cluster);
    nodes.setNetwork(layer3('ns_udn', '10.10.0.0/16'));
    nodes.addNode('n1');
    nodes.addNode('n2');
    expect(nodes.annotations('n1')).toEqual({
      id: '2',
      transitAddresses: '{"ipv4":"100.88.0.2/16","ipv6":"fd97::2/64"}',
      subnets: '{"default":["10.128.0.0/23","fd00:10:128::/64"],"ns_udn":["10.10.0.0/24"]}',
    });
    expect(nodes.annotations('n2')).toMatchObject({
      id: '3',
      subnets: '{"default":["10.128.2.0/23","fd00:10:128:1::/64"],"ns_udn":["10.10.1.0/24"]}',
    });
  });

  it('have transit addresses of the families that the cluster or one of its layer-3 networks has', () => {
    const nodes = new NodeAllocations(parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23' }));
    nodes.addNode('n1');
    const transit = () => nodes.annotations('n1').transitAddresses;
    expect(transit()).toBe('{"ipv4":"100.88.0.2/16"}');
    for (const subnets of ['10.10.0.0/16,fd00:10::/48', '10.10.0.0/16,10.11.0.0/16,fd00:10::/48']) {
      nodes.setNetwork(layer3('ns_udn', subnets));
      expect(transit()).toBe('{"ipv4":"100.88.0.2/16","ipv6":"fd97::2/64"}');
    }
    nodes.removeNetwork('ns_udn');
    expect(transit()).toBe('{"ipv4":"100.88.0.2/16"}');
  });

  it('keep the transit addresses that a node has of another family', () => {
    const nodes = new NodeAllocations(parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23' }));
    const held = {
      'k8s.ovn.org/node-id': '7',
      'k8s.ovn.org/node-transit-switch-port-ifaddr': '{"ipv4":"100.88.0.7/16","ipv6":"fd97::7/64"}',
    };
    expect(nodes.recover(nodeFacts(node('n1', held)))).toEqual([]);
    expect(nodes.recover(nodeFacts(node('n2', { 'k8s.ovn.org/node-transit-switch-port-ifaddr': '{' })))).toEqual([]);
    for (const name of ['n1', 'n2']) nodes.addNode(name);
    const transit = (name: string) => nodes.annotations(name).transitAddresses;
    expect(transit('n1')).toBe('{"ipv4":"100.88.0.7/16","ipv6":"fd97::7/64"}');
    expect(transit('n2')).toBe('{"ipv4":"100.88.0.2/16"}');
    nodes.removeNode('n1');
    nodes.addNode('n1');
    expect(transit('n1')).toBe('{"ipv4":"100.88.0.3/16"}');
  });

  it('recover what nodes have, and report what two have', () => {
    const nodes = new NodeAllocations(cluster);
    const held = {
      'k8s.ovn.org/node-id': '7',
      'k8s.ovn.org/node-subnets': '{"default":"10.128.4.0/23","gone":["10.1.0.0/24"]}',
    };
    expect(nodes.recover(nodeFacts(node('n1', held)))).toEqual([]);
    expect(nodes.recover(nodeFacts(node('n2', held)))).toEqual([
      'node id 7 already belongs to node n1',
      'network default: 10.128.4.0/23 already belongs to n1',
    ]);
    for (const name of ['n1', 'n2']) nodes.addNode(name);
    expect(nodes.annotations('n1')).toMatchObject({
      id: '7',
      subnets: '{"default":["10.128.4.0/23","fd00:10:128::/64"]}',
    });
    expect(nodes.annotations('n2')).toMatchObject({
      id: '2',
      subnets: '{"default":["10.128.0.0/23","fd00:10:128:1::/64"]}',
    });
  });

  it('report a node whose id has no address in the transit subnet, and give it the rest', () => {
    const nodes = new NodeAllocations(parseClusterConfig({ transitSubnets: '100.88.0.0/29' }));
    const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
    for (const name of names) nodes.addNode(name);
    expect(nodes.annotations('n5')).toMatchObject({ id: '6', transitAddresses: '{"ipv4":"100.88.0.6/29"}' });
    expect(nodes.idFailure('n5')).toBeUndefined();
    expect(nodes.idFailure('n6')).toBe('transit subnet 100.88.0.0/29 is too small for node id 7');
    expect(nodes.annotations('n6')).toEqual({
      id: '7',
      transitAddresses: undefined,
      subnets: '{"default":["10.128.10.0/23"]}',
    });
    nodes.removeNode('n1');
    expect(nodes.idFailure('n6')).toBe('transit subnet 100.88.0.0/29 is too small for node id 7');
  });

  it('name a garbage annotation and go on without it', () => {
    const nodes = new NodeAllocations(cluster);
    expect(
      nodes.recover(nodeFacts(node('n1', { 'k8s.ovn.org/node-subnets': '{', 'k8s.ovn.org/node-id': '1' }))),
    ).toEqual([
      expect.stringMatching(/^annotation k8s.ovn.org\/node-subnets of Node n1: not JSON/),
      'node id 1 is reserved',
    ]);
    nodes.addNode('n1');
    expect(nodes.annotations('n1').id).toBe('2');
  });

  it('report an exhausted network on that network only, and go on when a node leaves', () => {
    const nodes = new NodeAllocations(cluster);
    nodes.setNetwork(layer3('small', '10.10.0.0/23/24'));
    nodes.setNetwork(layer3('big', '10.11.0.0/16'));
    for (const name of ['n1', 'n2']) expect(nodes.addNode(name)).toEqual([]);
    expect(nodes.addNode('n3')).toEqual(['small']);
    expect([...nodes.failures('small')]).toEqual([['n3', 'no subnet left in 10.10.0.0/23/24']]);
    expect(nodes.subnetsOf('n3', 'big')).toEqual(['10.11.2.0/24']);
    expect(nodes.removeNode('n1')).toEqual({ nodes: ['n3'], networks: ['small'] });
    expect(nodes.subnetsOf('n3', 'small')).toEqual(['10.10.0.0/24']);
    expect(nodes.failures('small').size).toBe(0);
  });

  it('count those that have a subnet of every family, and not those that have one of some', () => {
    const nodes = new NodeAllocations(cluster);
    for (const name of ['n1', 'n2', 'n3']) nodes.addNode(name);
    nodes.setNetwork(layer3('net', 'fd00:20::/56'));
    nodes.assignNetwork('net');
    expect(nodes.countOf('net')).toBe(3);
    nodes.setNetwork(layer3('net', 'fd00:20::/56,10.20.0.0/23/24'));
    nodes.assignNetwork('net');
    expect([nodes.countOf('net'), [...nodes.failures('net').keys()]]).toEqual([2, ['n3']]);
    expect(nodes.subnetsOf('n3', 'net')).toEqual(['fd00:20:0:2::/64']);
  });

  it('have no id for one node too many, until another one goes', () => {
    const nodes = new NodeAllocations(cluster);
    for (let n = FIRST_NODE_ID; n <= LAST_NODE_ID; n += 1) nodes.addNode(`n${n}`);
    nodes.addNode('late');
    expect(nodes.idFailure('late')).toBe('no node id is left, all from 2 to 5000 are in use');
    expect(nodes.annotations('late').id).toBeUndefined();
    expect(nodes.removeNode('n77').nodes).toContain('late');
    expect([nodes.idFailure('late'), nodes.annotations('late').id]).toEqual([undefined, '77']);
  });

  it('keep what nodes have when subnets are added', () => {
    const nodes = new NodeAllocations(cluster);
    nodes.setNetwork(layer3('net', '10.10.0.0/23/24'));
    for (const name of ['n1', 'n2', 'n3']) nodes.addNode(name);
    nodes.setNetwork(layer3('net', '10.10.0.0/23/24,10.20.0.0/16/24'));
    nodes.assignNetwork('net');
    expect(['n1', 'n2', 'n3'].map((name) => nodes.subnetsOf(name, 'net'))).toEqual([
      ['10.10.0.0/24'],
      ['10.10.1.0/24'],
      ['10.20.0.0/24'],
    ]);
    expect(nodes.removeNetwork('net')).toBe(true);
    expect(nodes.annotations('n1').subnets).not.toContain('net');
  });

  it('are written in the same order, whatever order they came in', () => {
    const names = fc.uniqueArray(fc.string({ unit: fc.constantFrom(...'ab_.-0"'), minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(names, fc.array(fc.nat({ max: 5 })), (added, removed) => {
        const nodes = new NodeAllocations(parseClusterConfig());
        nodes.addNode('n1');
        const held = new Map([['default', ['10.128.0.0/23']]]);
        for (const name of added) {
          nodes.setNetwork({ ...layer3('net', '10.10.0.0/16,fd00::/48'), name });
          nodes.assignNetwork(name);
          held.set(name, ['10.10.0.0/24', 'fd00::/64']);
          expect(nodes.annotations('n1').subnets).toBe(formatNodeSubnets(held as unknown as NodeSubnets));
        }
        for (const name of removed.flatMap((at) => added[at] ?? [])) {
          nodes.removeNetwork(name);
          held.delete(name);
          expect(nodes.annotations('n1').subnets).toBe(formatNodeSubnets(held as unknown as NodeSubnets));
        }
        expect(JSON.parse(nodes.annotations('n1').subnets)).toEqual(Object.fromEntries(held));
      }),
      { numRuns: 50 },
    );
  });

  it('forget a node once', () => {
    const nodes = new NodeAllocations(cluster);
    nodes.addNode('n1');
    nodes.removeNode('n1');
    expect(nodes.removeNode('n1')).toEqual({ nodes: [], networks: [] });
    nodes.addNode('n2');
    expect(nodes.annotations('n2').id).toBe('2');
  });
});
