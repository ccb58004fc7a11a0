import { expect, it } from 'vitest';
import { hostItemKey } from '../../../../datapath/host/types.ts';
import { type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../../testing/cluster.ts';

const SHARED: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const WEB = { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['TCP/80', 'UDP/53'] };
const LOCAL = { ...WEB, internalTrafficPolicy: 'Local' } as const;

const cluster = (): TestCluster => workedCluster(SHARED).namespace('blue', true).namespace('plain');

/** `SET KEY : VALUE`, of a Service. */
const elementsOf = (of: TestCluster, key: string): string[] => {
  of.render();
  return of.sinks.nftables
    .all()
    .flatMap((item) => (item.kind === 'element' && item.element.comment === key ? [item.element] : []))
    .filter(({ set }) => !set.startsWith('udn-cluster-ips'))
    .map(({ set, key: own, value }) => `${set} ${own}${value === undefined ? '' : ` : ${value}`}`)
    .toSorted();
};

it('one with the policy Local is marked at its ClusterIPs, and any other is not', () => {
  const of = cluster().service('plain/web', LOCAL).service('plain/all', WEB);
  expect(elementsOf(of, 'plain/web')).toEqual([
    'itp-services-to-mark-v4 172.16.1.7 . tcp . 80',
    'itp-services-to-mark-v4 172.16.1.7 . udp . 53',
    'itp-services-to-mark-v6 fd00:10:96::7 . tcp . 80',
    'itp-services-to-mark-v6 fd00:10:96::7 . udp . 53',
  ]);
  expect(elementsOf(of, 'plain/all')).toEqual([]);
  of.service('plain/web', WEB);
  expect(elementsOf(of, 'plain/web')).toEqual([]);
});

it('one of a tenant is not: the host does not reach it at its ClusterIPs', () => {
  expect(elementsOf(cluster().service('blue/web', LOCAL), 'blue/web')).toEqual([]);
});

it('an endpoint that is this node is asked at once, one that is another node is none', () => {
  const of = cluster()
    .service('plain/web', { ...LOCAL, ports: ['TCP/80'] })
    .slices('plain/web', {
      ports: ['TCP/8080'],
      ready: [
        { ip: '172.30.0.2', node: 'node1' },
        { ip: '172.30.0.3', node: 'node2' },
      ],
    });
  expect(elementsOf(of, 'plain/web')).toEqual([
    'itp-services-to-host-v4 172.16.1.7 . tcp . 80 : 172.30.0.2 . 8080',
    'itp-services-to-mark-v6 fd00:10:96::7 . tcp . 80',
  ]);
});

it('marks lead to the management port, on a node with a gateway only', () => {
  const of = cluster();
  const hostItems = (): string => {
    of.render();
    return of.sinks.host.all().map(hostItemKey).join('\n');
  };
  const [route, rule] = [/^route 7 172.16.1.0\/24/m, /: fwmark 0x1745ec lookup 7$/m];
  expect(hostItems()).toMatch(route);
  expect(hostItems()).toMatch(rule);
  of.facts.set('gateway', 'node1', undefined);
  expect(hostItems()).not.toMatch(route);
  expect(hostItems()).not.toMatch(rule);
  expect(elementsOf(of.service('plain/web', LOCAL), 'plain/web')).toEqual([]);
});
