import { expect, it } from 'vitest';
import { workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../testing/cluster.ts';

const BLUE = 'in_port=patch-br-ex_blue';
const SPEAKS_AS_NODE = 0x40;

/** ICMP errors that the router of blue may send out: as any that speaks for the node's addresses, and by flows of its own. */
const errors = (cluster: TestCluster): string[] => {
  const flows = [...(cluster.render().openflow['br-ex'] ?? [])];
  const senders = flows.flatMap((flow) => (flow.includes(BLUE) ? (/:(0x\w+)->reg3/.exec(flow)?.[1] ?? []) : []));
  expect(senders).toHaveLength(5);
  const speaks = senders.map((bits) => (Number(bits) & SPEAKS_AS_NODE) !== 0);
  const isOf = (flow: string): boolean => (flow.includes('in_port=') ? flow.includes(BLUE) : !speaks.includes(false));
  expect(new Set(speaks).size).toBe(1);
  return flows.filter((flow) => flow.includes('priority=93, ') && isOf(flow));
};

it('errors are recognised by their source only where no pod may have the node’s address', () => {
  const cluster = workedCluster({ topology: 'layer3', mode: 'shared', family: 'dual' });
  expect(errors(cluster)).toHaveLength(3);
  cluster.gateway('node1', { addresses: ['10.200.0.7/24', 'fd00:30::2/64'] });
  expect(errors(cluster).filter((flow) => flow.includes('nw_src'))).toEqual([]);
  expect(errors(cluster).filter((flow) => flow.includes('ipv6_src'))).toHaveLength(2);
});
