import { expect, it } from 'vitest';
import { workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../testing/cluster.ts';

/** ICMP errors that the router of blue may send out. */
const errors = (cluster: TestCluster): string[] =>
  [...(cluster.render().openflow['br-ex'] ?? [])].filter((flow) =>
    /priority=93, .*in_port=patch-br-ex_blue/.test(flow),
  );

it('errors are told by their source only where no pod may have the node’s address', () => {
  const cluster = workedCluster({ topology: 'layer3', mode: 'shared', family: 'dual' });
  expect(errors(cluster)).toHaveLength(3);
  cluster.gateway('node1', { addresses: ['10.200.0.7/24', 'fd00:30::2/64'] });
  expect(errors(cluster).filter((flow) => flow.includes('nw_src'))).toEqual([]);
  expect(errors(cluster).filter((flow) => flow.includes('ipv6_src'))).toHaveLength(2);
});
