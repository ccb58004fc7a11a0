import { expect, it } from 'vitest';
import { workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { LOCAL } from '../../model/facts.ts';

const found = (mtu: number | undefined) => {
  const cluster = workedCluster({ topology: 'layer3', mode: 'shared', family: 'dual' });
  cluster.facts.set('tunnelMtu', LOCAL, mtu);
  return cluster.render().diagnostics.filter(({ message }) => message.includes('MTU'));
};

it.each([undefined, 1400, 1442])('says nothing where packets fit, or where that is not known: %s', (mtu) => {
  expect(found(mtu)).toEqual([]);
});

it('networks whose packets do not fit are in error, the default one as the node', () => {
  const message = expect.stringContaining('its MTU is 1400, but tunnels of node1 carry at most 1399 bytes');
  expect(found(1399)).toEqual([
    { object: 'Network/blue', severity: 'error', message },
    { object: 'Node/node1', severity: 'error', message, event: 'MTUTooLarge' },
  ]);
});
