import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, networkOfInterface, parseCidr } from '../net/cidr.ts';
import { parseNodeId } from '../net/ids.ts';
import { nodeJoinAddresses, nodeLinkAddresses, routerJoinAddresses } from './network-keys.ts';

const subnets = (...texts: string[]) => texts.map(parseCidr);

describe('join addresses', () => {
  it('of a node are at its id, of the cluster router at 1, with the prefix length of the subnet', () => {
    const join = subnets('100.65.0.0/16', 'fd99::/64');
    expect(nodeJoinAddresses(join, parseNodeId(4))).toEqual(['100.65.0.4/16', 'fd99::4/64']);
    expect(routerJoinAddresses(join)).toEqual(['100.65.0.1/16', 'fd99::1/64']);
  });

  it('end before the last address of the subnet', () => {
    expect(nodeJoinAddresses(subnets('100.65.0.0/29'), parseNodeId(6))).toEqual(['100.65.0.6/29']);
    expect(nodeJoinAddresses(subnets('100.65.0.0/29'), parseNodeId(7))).toBeUndefined();
    expect(nodeJoinAddresses(subnets('fd99::/64', '100.65.0.0/29'), parseNodeId(8))).toBeUndefined();
  });
});

describe('the link between transit router and gateway router', () => {
  it.each([
    [1, '100.88.0.2/31', '100.88.0.3/31'],
    [2, '100.88.0.4/31', '100.88.0.5/31'],
    [4, '100.88.0.8/31', '100.88.0.9/31'],
    [5, '100.88.0.10/31', '100.88.0.11/31'],
  ])('of node %i has %s and %s', (node, transitRouter, gatewayRouter) => {
    expect(nodeLinkAddresses(subnets('100.88.0.0/16'), parseNodeId(node))).toEqual([{ transitRouter, gatewayRouter }]);
  });

  it('is a /127 of IPv6', () => {
    expect(nodeLinkAddresses(subnets('fd97::/64'), parseNodeId(4))).toEqual([
      { transitRouter: 'fd97::8/127', gatewayRouter: 'fd97::9/127' },
    ]);
  });

  it('needs two addresses for every node', () => {
    expect(nodeLinkAddresses(subnets('100.88.0.0/29'), parseNodeId(3))).toHaveLength(1);
    expect(nodeLinkAddresses(subnets('100.88.0.0/29'), parseNodeId(4))).toBeUndefined();
  });

  it('is one network, and no other node’s', () => {
    const id = fc.integer({ min: 1, max: 5000 }).map(parseNodeId);
    const linkOf = (node: ReturnType<typeof parseNodeId>) => nodeLinkAddresses(subnets('100.88.0.0/16'), node)?.[0];
    fc.assert(
      fc.property(id, id, (a, b) => {
        const [one, other] = [linkOf(a), linkOf(b)];
        if (one === undefined || other === undefined) throw new Error('no link');
        expect(networkOfInterface(one.transitRouter)).toBe(networkOfInterface(one.gatewayRouter));
        expect(addressOf(one.transitRouter) === addressOf(other.transitRouter)).toBe(a === b);
        expect(addressOf(one.gatewayRouter)).not.toBe(addressOf(other.transitRouter));
      }),
    );
  });
});
