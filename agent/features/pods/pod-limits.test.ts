import { expect, it } from 'vitest';
import type { Bandwidth } from '../../../api/annotations/selection-element.ts';
import { type PodInput, TestCluster } from '../../testing/cluster.ts';
import { northboundText } from '../../testing/northbound-text.ts';

const LIMITS: Bandwidth = { ingressRate: 20_000_000, egressRate: 10_000_000 };

const cluster = (pod: Partial<PodInput> = {}): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .node('node2', { id: 3 })
    .namespace('red', true)
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
    .network('red_flat', {
      ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: 'flat' },
    })
    .pod('red/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' },
        'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
        'red/flat': { ips: ['10.90.0.3/24'], tunnelId: 7, role: 'secondary' },
        'red/flat/1': { ips: ['10.90.0.4/24'], tunnelId: 8, role: 'secondary' },
      },
      ...pod,
    });

const limits = (it: TestCluster): string[] =>
  northboundText(it.render().northbound, () => true)
    .split('\n')
    .filter((line) => /^Logical_Switch|qos/.test(line))
    .filter((line, index, all) => line.includes('qos') || all[index + 1]?.includes('qos') === true);

it('limits the primary interface by the annotations of Kubernetes, in both directions', () => {
  expect(limits(cluster({ bandwidth: LIMITS }))).toEqual([
    'Logical_Switch red_net_node1',
    '  qos from-lport priority 100 (inport == "red.net_red_a"): burst=2500 rate=10000',
    '  qos to-lport priority 100 (outport == "red.net_red_a"): burst=5000 rate=20000',
  ]);
});

it('limits each selected interface by its own selection', () => {
  const selects = JSON.stringify([
    { name: 'flat' },
    { name: 'flat', bandwidth: { ingressRate: 1, egressRate: 5_000_001, egressBurst: 9_000_001 } },
  ]);
  expect(limits(cluster({ selects }))).toEqual([
    'Logical_Switch red_flat_ovn_layer2_switch',
    '  qos from-lport priority 100 (inport == "red.flat.1_red_a"): burst=9001 rate=5001',
    '  qos to-lport priority 100 (outport == "red.flat.1_red_a"): burst=1000 rate=1',
  ]);
});

it('limits no more than OVN counts to', () => {
  const [, row] = limits(cluster({ bandwidth: { egressRate: 1e15 } }));
  expect(row).toMatch(/: burst=4294967295 rate=4294967295$/);
});

it('is the row of one owner with the port, and goes with it', () => {
  const it = cluster({ bandwidth: LIMITS });
  it.render();
  const rows = it.sinks.northbound.fragments.get('pods:red/a')?.rows ?? [];
  expect(
    rows
      .filter(({ table }) => table === 'QoS')
      .map(({ columns }) => ({ ...columns }) as Record<string, unknown>)
      .map((columns) => columns['external_ids']),
  ).toEqual([
    expect.objectContaining({ 'k8s.ovn.org/name': 'red.net_red_a', direction: 'Ingress' }),
    expect.objectContaining({ 'k8s.ovn.org/name': 'red.net_red_a', direction: 'Egress' }),
  ]);
  it.facts.set('pod', 'red/a', undefined);
  expect(limits(it)).toEqual([]);
});

it('follows the annotations', () => {
  const it = cluster({ bandwidth: LIMITS });
  it.render();
  const { bandwidth: _, ...fact } = it.facts.get('pod', 'red/a')!;
  it.facts.set('pod', 'red/a', { ...fact, bandwidth: { egressRate: 1_000_000 } });
  expect(limits(it)).toHaveLength(2);
  it.facts.set('pod', 'red/a', fact);
  expect(limits(it)).toEqual([]);
});

it('limits an interface that the pod still has by what its selection said', () => {
  const it = cluster();
  it.facts.set('pod', 'red/a', {
    ...it.facts.get('pod', 'red/a')!,
    keptLimits: new Map([['red/flat', { egressRate: 5_000_000 }]]),
  });
  expect(limits(it)[1]).toBe('  qos from-lport priority 100 (inport == "red.flat_red_a"): burst=1250 rate=5000');
});

it('limits a pod where it runs, not on the other nodes', () => {
  const selects = '[{"name":"flat","bandwidth":{"egressRate":5000000}}]';
  expect(limits(cluster({ selects, node: 'node2' }))).toEqual([]);
});

it('refuses ADD with limits that cannot be read', () => {
  const why = 'annotation kubernetes.io/egress-bandwidth of Pod red/a: "fast" is not a quantity, as 10M is';
  const it = cluster({ unreadableBandwidth: why });
  it.render();
  const { refused } = it.sinks.attachments.get('attachments:red/a') ?? {};
  expect(refused).toBe(`${why}; until it can be read, its primary interface has no limits`);
});
