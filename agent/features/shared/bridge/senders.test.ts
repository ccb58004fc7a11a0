import { expect, it } from 'vitest';
import { addTenant, type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const PATCH = 'patch-br-ex_blue_node1-to-br-int';

const flowsOf = (cluster: TestCluster): string[] => [...(cluster.render().openflow['br-ex'] ?? [])];
const isSender = (text: string, port = ''): boolean =>
  /table=0, priority=7[23]0, /.test(text) && text.includes(`in_port=${port}`);

it('a tenant is told by its port, and its router by the addresses that nobody else sends from', () => {
  const senders = (variant: Variant) =>
    flowsOf(workedCluster(variant)).flatMap((flow) => (isSender(flow, PATCH) ? [flow.split('priority=')[1]] : []));
  expect(senders(DUAL)).toEqual([
    `730, ip,in_port=${PATCH},nw_src=100.65.0.2,reg3=0, actions=set_field:0x4->reg2,set_field:0x5f->reg3,resubmit(,0)`,
    `730, ip,in_port=${PATCH},nw_src=169.254.0.11,reg3=0, actions=set_field:0x4->reg2,set_field:0x6f->reg3,resubmit(,0)`,
    `730, ipv6,in_port=${PATCH},ipv6_src=fd69::b,reg3=0, actions=set_field:0x4->reg2,set_field:0x6f->reg3,resubmit(,0)`,
    `730, ipv6,in_port=${PATCH},ipv6_src=fd99::2,reg3=0, actions=set_field:0x4->reg2,set_field:0x5f->reg3,resubmit(,0)`,
    `720, in_port=${PATCH},reg3=0, actions=set_field:0x4->reg2,set_field:0x4f->reg3,resubmit(,0)`,
  ]);
  // Without IPv6 it is none of those that flows of IPv6 are for.
  expect(senders({ ...DUAL, family: 'ipv4' }).at(-1)).toContain('set_field:0x47->reg3');
});

it('networks are told by nothing else: only ports of networks have a flow that says who sends', () => {
  const flows = flowsOf(addTenant(workedCluster(DUAL), 'green', 2, DUAL));
  const telling = flows.filter((flow) => /->reg[23]\b/.test(flow) || /->NXM_NX_REG[23]\b/.test(flow));
  expect(telling.filter((flow) => !isSender(flow))).toEqual([]);
  const ports = telling.map((flow) => /in_port=([^,]+)/.exec(flow)?.[1]);
  expect([...new Set(ports)].toSorted()).toEqual(
    [PATCH, PATCH.replace('blue', 'green'), 'patch-br-ex_node1-to-br-int'].toSorted(),
  );
  const marks = Map.groupBy(telling, (flow) => /in_port=([^,]+)/.exec(flow)?.[1]);
  const marksOf = (of: readonly string[] = []) => [...new Set(of.map((flow) => /:(0x\d+)->reg2/.exec(flow)?.[1]))];
  expect([...marks.values()].map(marksOf).toSorted()).toEqual([['0x1'], ['0x4'], ['0x5']]);
});
