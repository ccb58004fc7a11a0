import { expect, it } from 'vitest';
import type { NftItem } from '../../../../datapath/nftables/types.ts';
import { emptyCluster, type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { GatewayFact } from '../../../model/facts.ts';
import type { TestCluster } from '../../../testing/cluster.ts';

const SHARED: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const LOCAL: Variant = { ...SHARED, mode: 'local' };
const WEB = {
  ips: ['172.16.1.7', 'fd00:10:96::7'],
  ports: ['TCP/80@30080'],
  externalIps: ['203.0.113.7', '2001:db8::7'],
};

const cluster = (variant: Variant): TestCluster => workedCluster(variant).namespace('blue', true).namespace('plain');

const itemsOf = (of: TestCluster): readonly NftItem[] => {
  of.render();
  return of.sinks.nftables.all();
};

/** `SET KEY : VALUE`, of a Service. */
const elementsOf = (of: TestCluster, key: string): string[] =>
  itemsOf(of)
    .flatMap((item) => (item.kind === 'element' && item.element.comment === key ? [item.element] : []))
    .filter(({ set }) => !set.startsWith('udn-cluster-ips'))
    .map(({ set, key: own, value }) => `${set} ${own}${value === undefined ? '' : ` : ${value}`}`);

const CLUSTER = [
  'nodeports-v4 tcp . 30080 : 172.16.1.7 . 80',
  'nodeports-v6 tcp . 30080 : fd00:10:96::7 . 80',
  'udn-mark-nodeports tcp . 30080 : jump udn-mark-0x1001',
  'external-ips-v4 203.0.113.7 . tcp . 80 : 172.16.1.7 . 80',
  'udn-mark-external-ips-v4 203.0.113.7 . tcp . 80 : jump udn-mark-0x1001',
  'external-ips-v6 2001:db8::7 . tcp . 80 : fd00:10:96::7 . 80',
  'udn-mark-external-ips-v6 2001:db8::7 . tcp . 80 : jump udn-mark-0x1001',
];

it.each([SHARED, LOCAL])('a Service is elements of maps, and no rule, in $mode gateway mode', (variant) => {
  const of = cluster(variant);
  const others = itemsOf(of);
  of.service('blue/web', WEB);
  expect(elementsOf(of, 'blue/web').toSorted()).toEqual(CLUSTER.toSorted());
  expect(itemsOf(of)).toHaveLength(others.length + CLUSTER.length + WEB.ips.length);
  of.facts.set('service', 'blue/web', undefined);
  expect(itemsOf(of)).toEqual(others);
});

it('one of the default network has a mark, too: tenants reach it by their VRFs', () => {
  const of = cluster(SHARED).service('plain/web', { ...WEB, externalIps: [] });
  expect(elementsOf(of, 'plain/web')).toContain('udn-mark-nodeports tcp . 30080 : jump udn-mark-0x1000');
  const chains = itemsOf(of).flatMap((item) => (item.kind === 'chain' ? [item.chain.name] : []));
  expect(chains).toEqual(expect.arrayContaining(['udn-mark-0x1000', 'udn-mark-0x1001']));
});

it('what has to stay on the node goes to an address of its own in local gateway mode, with its source', () => {
  const local = { ...WEB, externalTrafficPolicy: 'Local' } as const;
  const of = cluster(LOCAL).service('blue/web', local);
  expect(elementsOf(of, 'blue/web').toSorted()).toEqual(
    [
      ...CLUSTER,
      'nodeports-etp-local-v4 tcp . 30080 : 169.254.0.3 . 30080',
      'nodeports-etp-local-v6 tcp . 30080 : fd69::3 . 30080',
      'mgmtport-no-snat-nodeports tcp . 30080',
      'external-ips-etp-local-v4 203.0.113.7 . tcp . 80 : 169.254.0.3 . 30080',
      'external-ips-etp-local-v6 2001:db8::7 . tcp . 80 : fd69::3 . 30080',
    ].toSorted(),
  );
  expect(elementsOf(cluster(SHARED).service('blue/web', local), 'blue/web').toSorted()).toEqual(CLUSTER.toSorted());
  of.service('blue/web', { ...local, ports: ['TCP/80'] });
  expect(elementsOf(of, 'blue/web').filter((element) => element.includes('etp-local'))).toEqual([]);
});

it.each([SHARED, LOCAL])(
  'an endpoint that is the node gets what comes from outside at once, in $mode mode',
  (variant) => {
    const of = cluster(variant)
      .service('plain/web', { ...WEB, externalTrafficPolicy: 'Local' })
      .slices('plain/web', {
        ports: ['TCP/8080'],
        ready: [
          { ip: '10.128.0.9', node: 'node1' },
          { ip: '172.30.0.2', node: 'node1' },
          { ip: '172.30.0.3', node: 'node2' },
        ],
      });
    const local = elementsOf(of, 'plain/web').filter((element) => element.includes('etp-local-v4'));
    expect(local.toSorted()).toEqual([
      'external-ips-etp-local-v4 203.0.113.7 . tcp . 80 : 172.30.0.2 . 8080',
      'nodeports-etp-local-v4 tcp . 30080 : 172.30.0.2 . 8080',
    ]);
    const flows = (of.render().openflow['br-ex'] ?? []).filter((flow) => /tp_(dst|src)=(30080|80)\b/.test(flow));
    expect(flows.filter((flow) => !flow.includes('6,'))).toEqual([]);
  },
);

const ON_NODE1 = [{ ip: '172.30.0.2', node: 'node1' }] as const;

/** With the policy Cluster: what is reached without OVN from outside, and how many flows of the bridge are for the node port. */
const soleOf = (variant: Variant, ready: readonly { readonly ip: string; readonly node: string }[]) => {
  const of = cluster(variant)
    .service('plain/web', WEB)
    .slices('plain/web', { ports: ['TCP/8080'], ready });
  const elements = elementsOf(of, 'plain/web').filter((element) => element.includes('etp-local'));
  const flows = (of.render().openflow['br-ex'] ?? []).filter((flow) => /\btcp,.*tp_dst=30080\b/.test(flow));
  return { elements, flows: flows.length };
};

it.each([SHARED, LOCAL])(
  'a node port whose only endpoints are the node leads to it at once, in $mode mode',
  (variant) => {
    const elements = ['nodeports-etp-local-v4 tcp . 30080 : 172.30.0.2 . 8080'];
    expect(soleOf(variant, ON_NODE1)).toEqual({ elements, flows: 0 });
  },
);

it.each([
  ['another node', [...ON_NODE1, { ip: '172.30.0.3', node: 'node2' }]],
  ['a pod', [...ON_NODE1, { ip: '10.128.0.9', node: 'node1' }]],
])('a node port of which %s is an endpoint, too, is OVN’s', (_, ready) => {
  expect(soleOf(SHARED, ready)).toEqual({ elements: [], flows: 1 });
});

it('every element has its set or map, and no node without node ports has any', () => {
  const of = cluster(LOCAL).service('blue/web', { ...WEB, externalTrafficPolicy: 'Local' });
  const sets = new Set(itemsOf(of).flatMap((item) => (item.kind === 'set' ? [item.set.name] : [])));
  for (const item of itemsOf(of)) if (item.kind === 'element') expect(sets).toContain(item.element.set);
  const gateway = of.facts.get('gateway', 'node1') as GatewayFact;
  of.facts.set('gateway', 'node1', { ...gateway, nodePortEnable: false });
  expect(elementsOf(of, 'blue/web')).toEqual([]);
  expect(itemsOf(of).flatMap((item) => (item.kind === 'chain' ? [item.chain.name] : []))).not.toContain('services');
});

it('waits for its network', () => {
  const of = emptyCluster(SHARED).namespace('blue', true).service('blue/web', WEB);
  expect(elementsOf(of, 'blue/web')).toEqual([]);
});
