import { expect, it } from 'vitest';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const WEB = { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['TCP/80'] };

const elementsOf = (of: TestCluster): string[] => {
  of.render();
  return of.sinks.nftables
    .all()
    .flatMap((item) =>
      item.kind === 'element' && item.element.set.startsWith('udn-cluster-ips') ? [item.element] : [],
    )
    .map(({ set, key, comment }) => `${set} ${key} # ${comment}`)
    .toSorted();
};

it('are those of Services of user-defined networks alone, while these are here', () => {
  const of = workedCluster(DUAL).namespace('blue', true).namespace('plain');
  of.service('plain/web', { ips: ['172.16.1.8'], ports: ['TCP/80'] });
  expect(elementsOf(of)).toEqual([]);
  of.service('blue/web', WEB);
  const own = ['udn-cluster-ips-v4 172.16.1.7 # blue/web', 'udn-cluster-ips-v6 fd00:10:96::7 # blue/web'];
  expect(elementsOf(of)).toEqual(own);
  const network = of.facts.get('network', 'blue');
  of.facts.set('network', 'blue', undefined);
  expect(elementsOf(of)).toEqual([]);
  of.facts.set('network', 'blue', network);
  expect(elementsOf(of)).toEqual(own);
  of.facts.set('service', 'blue/web', undefined);
  expect(elementsOf(of)).toEqual([]);
});

it('are of the families that the network has', () => {
  const of = addTenant(emptyCluster(DUAL), 'red', 2, { ...DUAL, family: 'ipv6' }).namespace('red', true);
  expect(elementsOf(of.service('red/web', WEB))).toEqual(['udn-cluster-ips-v6 fd00:10:96::7 # red/web']);
});
