/**
 * Everything that a drop of rendered clusters is, or refers to, is a guard: a missing one is named by its key, and by its
 * owners.
 */
import { describe, expect, it } from 'vitest';
import { flowText } from '../../agent/render/openflow-document.ts';
import type { TestCluster } from '../../agent/testing/cluster.ts';
import { serviceCluster } from '../../agent/testing/service-cluster.ts';
import { type Chain, type NftItem, nftItemKey } from '../../datapath/nftables/types.ts';
import { type Action, bridgeItemKey, type Flow } from '../../datapath/openflow/types.ts';
import { parsePort } from '../../net/ids.ts';
import { emptyCluster, nameOf, VARIANTS, workedCluster } from '../../test/unit/golden/worked-cluster.ts';
import { guardOf } from './guards.ts';

type Part = Parameters<typeof guardOf>[0];

const busy = (): TestCluster =>
  serviceCluster()
    .pod('red/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.5/23'], role: 'infrastructure-locked' },
        'red/net': { ips: ['10.70.0.5/24'], role: 'primary' },
      },
      openPorts: [{ protocol: 'tcp', port: parsePort(80) }, { protocol: 'icmp' }],
    })
    .pod('plain/b', { node: 'node1', networks: { default: { ips: ['10.128.0.6/23'], role: 'primary' } } })
    .service('red/web', { ips: ['172.16.1.50'], ports: ['TCP/80@30080'], externalIps: ['9.9.9.9'] });

const CLUSTERS: readonly (readonly [string, () => TestCluster])[] = [
  ...VARIANTS.map((variant) => [nameOf(variant), () => workedCluster(variant)] as const),
  ['no tenant', () => emptyCluster({ mode: 'shared', family: 'dual' })],
  ['services and pods', busy],
];

const unknown = (parts: readonly Part[]): string[] =>
  parts.filter((part) => guardOf(part) === undefined).map(({ key }) => key);

describe.each(CLUSTERS)('%s', (_, build) => {
  const cluster = build();
  cluster.render();

  it('flows that drop, their clauses, who sends what they drop, and ports that are not flooded', () => {
    const items = cluster.sinks.openflow.all();
    const flows = items.flatMap((item) => (item.kind === 'flow' ? [item.flow] : []));
    const dropped = new Set(flows.filter(drops).flatMap(({ match }) => match['conj_id'] ?? []));
    expect(dropped.size).toBeGreaterThan(0);
    const isPart = (flow: Flow): boolean => drops(flow) || clausesOf(flow).some((id) => dropped.has(id));
    const registers = new Set(flows.filter(isPart).flatMap(({ match }) => Object.keys(match).filter(isRegister)));
    expect([...registers]).toEqual(['reg3']);
    const tells = ({ actions }: Flow): boolean => [...registers].some((name) => actions.some(setsIt(name)));
    expect(flows.some(tells)).toBe(true);
    const guarding = items.filter(
      (item) => item.kind === 'noFlood' || (item.kind === 'flow' && (isPart(item.flow) || tells(item.flow))),
    );
    const parts = guarding.map(
      (item): Part => ({
        ...{ backend: 'openflow', key: bridgeItemKey(item), owners: [] },
        ...(item.kind === 'flow' && { wanted: flowText(item.flow) }),
      }),
    );
    expect(unknown(parts)).toEqual([]);
  });

  it('chains that drop, those next to them, and all sets that they look at', () => {
    const items = cluster.sinks.nftables.all();
    const chains = new Map(items.flatMap((item) => (item.kind === 'chain' ? [[item.chain.name, item.chain]] : [])));
    const guarding = guardingChains(chains);
    const sets = new Set(guarding.flatMap(({ rules }) => rules.flatMap(setsOf)));
    expect(sets.size).toBeGreaterThan(10);
    const refers = (item: NftItem): boolean =>
      (item.kind === 'chain' && guarding.includes(item.chain)) ||
      (item.kind === 'set' && sets.has(item.set.name)) ||
      (item.kind === 'element' && sets.has(item.element.set));
    const parts = items
      .filter(refers)
      .map((item): Part => ({ backend: 'nftables', key: nftItemKey(item), owners: [] }));
    expect(unknown(parts)).toEqual([]);
  });

  it('rows that drop, translate or limit, also when only another column of them differs', () => {
    const fragments = [...cluster.sinks.northbound.fragments.values()];
    const rows = fragments.flatMap(({ rows: own = [] }) =>
      own.map(({ table, key, columns }) => ({ table, key, columns })),
    );
    const guarding = rows.filter(({ table, columns }) => {
      const text = JSON.stringify(columns);
      return ['NAT', 'ACL'].includes(table) || /"action":"(drop|reject)"/.test(text);
    });
    expect(guarding.length).toBeGreaterThan(2);
    const parts = guarding.map(
      ({ key }): Part => ({ backend: 'northbound', key, owners: [], wanted: '{"match":"x"}' }),
    );
    expect(unknown(parts)).toEqual([]);
    const ends = rows.filter(({ columns }) => /"discard"|ovn-udn\/connections/.test(JSON.stringify(columns)));
    const missing = ends.map(
      ({ key, columns }): Part => ({ backend: 'northbound', key, owners: [], wanted: JSON.stringify(columns) }),
    );
    expect(unknown(missing)).toEqual([]);
  });
});

const isRegister = (field: string): boolean => /^reg[0-9]+$/.test(field);

const setsIt = (register: string) => (action: Action) => typeof action === 'string' && action.endsWith(`->${register}`);

const drops = ({ actions }: Flow): boolean => actions.length === 0 || actions.includes('drop');

const clausesOf = ({ actions }: Flow): string[] =>
  actions.flatMap((action) => (typeof action === 'string' ? (/^conjunction\((\d+),/.exec(action)?.[1] ?? []) : []));

/** Those with a drop, those that jump there, and those that come before one by a jump. */
const guardingChains = (chains: ReadonlyMap<string, Chain>): Chain[] => {
  const all = [...chains.values()];
  const dropping = all.filter(({ rules }) => rules.some((rule) => /\bdrop\b/.test(rule)));
  const names = new Set(dropping.map(({ name }) => name));
  const isNext = ({ rules }: Chain): boolean => rules.flatMap(jumpsOf).some((name) => names.has(name));
  const targets = new Set(dropping.flatMap(({ rules }) => rules.flatMap(jumpsOf)));
  return all.filter((one) => names.has(one.name) || isNext(one) || targets.has(one.name));
};

const jumpsOf = (rule: string): string[] => [...rule.matchAll(/\b(?:jump|goto) (\S+)/g)].map(([, name = '']) => name);

const setsOf = (rule: string): string[] => [...rule.matchAll(/@([a-z0-9-]+)/g)].map(([, name = '']) => name);

it.each([
  'chain udn-host-network-pod-services',
  'chain udn-process-marks',
  'chain udn-mark-0x1001',
  'chain udn-tunnels-encrypted',
  'element udn-cluster-ips-v4 172.16.1.50',
  'element udn-mark-host-network-pods "kubepods.slice"',
  'set udn-management-sources-v6',
])('%s chooses a network, or lets through', (key) => {
  expect(guardOf({ backend: 'nftables', key, owners: [] })?.name).toBe('the host’s filters');
});

it.each(['chain services', 'set nodeports-v4', 'element external-ips-v4 9.9.9.9 . tcp . 80', 'chain mgmtport-snat'])(
  '%s only translates',
  (key) => {
    expect(guardOf({ backend: 'nftables', key, owners: [] })).toBeUndefined();
  },
);

it.each([
  ['Logical_Router/red', '{"external_ids":{"ovn-udn/connections":"5000","mcast_relay":"true"}}', undefined],
  [
    'Logical_Switch/red',
    '{"external_ids":{"ovn-udn/connections":"5000"}}',
    '{"external_ids":{"ovn-udn/connections":"0"}}',
  ],
  ['Logical_Switch_Port/k8s-red', '{"external_ids":{"ovn-udn/connections":"5000"}}', '{}'],
])('%s lacks its limit', (key, wanted, actual) => {
  const part: Part = { backend: 'northbound', key, owners: ['layer3:red'], wanted, ...(actual && { actual }) };
  expect(guardOf(part)?.name).toBe('limits of networks');
});

it('a limit that is as it should be is no reason', () => {
  const [wanted, actual] = [
    '{"external_ids":{"a":"1","ovn-udn/connections":"5"}}',
    '{"external_ids":{"ovn-udn/connections":"5"}}',
  ];
  expect(guardOf({ backend: 'northbound', key: 'Logical_Router/red', owners: [], wanted, actual })).toBeUndefined();
});

it('a pod’s link without its filter is a guard, too', () => {
  expect(guardOf({ backend: 'host', key: 'frame-filter 0123456789abc_1', owners: [] })?.name).toBe('frame filters');
});
