import { describe, expect, it } from 'vitest';
import { chooseNodes, clusterNode, familiesOf } from './cluster-nodes.ts';
import { askedSubnets } from './subnets.ts';

const SUBNETS = { 'k8s.ovn.org/node-subnets': '{"default":["10.128.0.0/23","fd00:10:128::/64"]}' };

const node = (name: string, { spec = {}, ready = 'True', labels = {}, annotations = SUBNETS as object } = {}) =>
  clusterNode({
    metadata: { name, labels: { 'kubernetes.io/hostname': `host-${name}`, ...labels }, annotations },
    spec,
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });

const CORDONED = node('n0', { spec: { unschedulable: true } });
const TAINTED = node('n1', { spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } });
const [N2, N3, N4] = [
  node('n2', { spec: { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] } }),
  node('n3'),
  node('n4'),
];

describe('the nodes of the pods', () => {
  it('the first two that fit, by name', () => {
    expect(chooseNodes([N4, CORDONED, N3, TAINTED, N2])).toEqual([
      { name: 'n2', hostname: 'host-n2' },
      { name: 'n3', hostname: 'host-n3' },
    ]);
    expect(chooseNodes([CORDONED, N4])).toEqual([{ name: 'n4', hostname: 'host-n4' }]);
  });

  it('those that are asked for', () => {
    expect(chooseNodes([N2, N3, N4], ['n4'])).toEqual([{ name: 'n4', hostname: 'host-n4' }]);
    expect(() => chooseNodes([N2], ['n9'])).toThrow('there is no node n9');
    expect(() => chooseNodes([N2, TAINTED], ['n1'])).toThrow(
      'no pods can be placed on node n1: it has the taint dedicated',
    );
    expect(() => chooseNodes([N2, N3, N4], ['n2', 'n3', 'n4'])).toThrow('one node or two');
  });

  it('when none fits, the reason of each', () => {
    const nodes = [
      ...[CORDONED, TAINTED, node('n5', { ready: 'False' })],
      node('n6', { labels: { 'k8s.ovn.org/exclude-from-networks': '' } }),
      node('n7', { annotations: {} }),
    ];
    expect(() => chooseNodes(nodes)).toThrow(
      'no node can run the pods of the test: n0: it is cordoned; n1: it has the taint dedicated; n5: it is not Ready; n6: it has the label k8s.ovn.org/exclude-from-networks; n7: it has no subnet of the default network',
    );
  });

  it('IP families are those of the default network', () => {
    expect(familiesOf([N2], { nodes: [N2] })).toEqual([4, 6]);
    const single = node('n2', { annotations: { 'k8s.ovn.org/node-subnets': '{"default":["fd00::/64"]}' } });
    expect(familiesOf([single], { nodes: [single] })).toEqual([6]);
  });
});

it.each([
  ['10.9.0.0/27', '--subnet 10.9.0.0/27 is too small: each node gets a /27 of it'],
  ['fd00::/64', '--subnet fd00::/64 is too small: each node gets a /64 of it'],
  ['10.9.0.1/16', /^--subnet: "10\.9\.0\.1\/16" has host bits set/],
  ['nothing', /^--subnet: /],
])('subnet %s is rejected', (text, message) => {
  expect(() => askedSubnets([text])).toThrow(message);
});
