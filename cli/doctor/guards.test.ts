import { expect, it } from 'vitest';
import type { DifferenceStatus } from '../../api/agent-status.ts';
import { nameOf, VARIANTS, workedCluster } from '../../test/unit/golden/worked-cluster.ts';
import { guardOf, openGuards } from './guards.ts';

it.each(VARIANTS.map((variant) => [nameOf(variant), variant] as const))('knows all that drops: %s', (_, variant) => {
  const cluster = workedCluster(variant);
  const { northbound, openflow } = cluster.render();
  const acls = (northbound['ACL'] ?? []).filter(({ action }) => action === 'drop' || action === 'reject');
  const flows = Object.values(openflow)
    .flat()
    .filter((flow) => flow.endsWith('actions=drop'));
  const chains = cluster.sinks.nftables
    .all()
    .flatMap((item) =>
      item.kind === 'chain' && item.chain.rules.some((rule) => rule.includes('drop')) ? [item.chain] : [],
    );
  const parts = [
    ...acls.map(
      (row) => ({ backend: 'northbound', key: 'ACL/some', owners: [], wanted: JSON.stringify(row) }) as const,
    ),
    ...flows.map((flow) => ({ backend: 'openflow', key: `flow ${flow}`, owners: [], wanted: flow }) as const),
    ...chains.map(
      ({ name, rules }) =>
        ({ backend: 'nftables', key: `chain ${name}`, owners: [], wanted: rules.join('\n') }) as const,
    ),
  ];
  expect(parts.length).toBeGreaterThan(10);
  expect(parts.filter((part) => guardOf(part) === undefined)).toEqual([]);
});

const difference = (more: Partial<DifferenceStatus>): DifferenceStatus => ({
  ...{ backend: 'nftables', key: 'element udn-pod-default-ips-v4 10.1.1.3', kind: 'missing' },
  owners: ['host-isolation:red/a'],
  ...more,
});

it.each([
  ['ACL/x', 'policy-deny:g', 'network policies'],
  ['Port_Group/x', 'pods:red/a', 'network policies'],
  // Without it less is allowed.
  ['ACL/x', 'policy-rules:r', undefined],
])('of network policies what denies: %s of %s', (key, owner, guard) =>
  expect(guardOf({ backend: 'northbound', key, owners: [owner] })?.name).toBe(guard),
);

it('says what may happen without it, and why it is not there', () => {
  const differences = [
    difference({ problem: 'nft: Device or resource busy' }),
    difference({ backend: 'northbound', key: 'Logical_Switch_Port/red_a', kind: 'different', owners: ['pods:red/a'] }),
    difference({ backend: 'northbound', key: 'Logical_Router/red', owners: ['layer3:red'] }),
    difference({ kind: 'unwanted' }),
  ];
  const unsupported = [
    { backend: 'nftables', key: 'chain x drop', message: 'no egress hook' },
    { backend: 'host', key: 'filter ovn-k8s-mp0', message: 'no CONFIG_IP_ROUTE_CLASSID' },
  ] as const;
  expect(openGuards({ differences, unreadable: [], unsupported: [...unsupported] })).toEqual([
    {
      guard: 'host isolation',
      key: 'nftables: element udn-pod-default-ips-v4 10.1.1.3',
      why: 'nft: Device or resource busy; until then processes of the node reach pods of tenants',
    },
    {
      guard: 'the host’s filters',
      key: 'nftables: chain x drop',
      why: 'not supported here: no egress hook; until then the host forwards traffic that networks may not send or receive',
    },
    {
      guard: 'port security',
      key: 'northbound: Logical_Switch_Port/red_a',
      why: 'is not as desired; until then a pod sends with addresses that are not its own',
    },
    {
      guard: 'filters of the host’s ports',
      key: 'host: filter ovn-k8s-mp0',
      why: 'not supported here: no CONFIG_IP_ROUTE_CLASSID; until then packet sockets on the node send into networks',
    },
  ]);
});
