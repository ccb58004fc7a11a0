import { expect, it } from 'vitest';
import { emptyCluster } from '../../../test/unit/golden/worked-cluster.ts';

it.each(['shared', 'local'] as const)('what it sends with a pod’s own address goes nowhere, %s mode', (mode) => {
  const cluster = emptyCluster({ mode, family: 'dual' });
  const flows = [...(cluster.render().openflow['br-ex'] ?? [])].filter((flow) => flow.includes('priority=104, '));
  expect(flows.map((flow) => flow.split('priority=104, ')[1])).toEqual([
    'ip,in_port=patch-br-ex_node1-to-br-int,nw_src=10.128.0.0/14, actions=drop',
    'ipv6,in_port=patch-br-ex_node1-to-br-int,ipv6_src=fd00:10:128::/48, actions=drop',
  ]);
});
