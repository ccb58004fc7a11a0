import { expect, it } from 'vitest';
import { parseMac } from '../../net/mac.ts';
import { SANDBOX, withTenant } from '../testing/cni-handler.ts';
import { comparableFilters } from './comparable-filters.ts';

const ETH0 = `frame-filter ${SANDBOX.slice(0, 15)}`;
const UDN1 = `frame-filter ${SANDBOX.slice(0, 13)}_1`;

const plugged = async () => {
  const { call, cluster, ports, netlink, kernel } = withTenant();
  await call('ADD', { pod: 'red/a' });
  const filters = comparableFilters({ pods: () => cluster.sinks.attachments.values(), ports, netlink });
  const differences = async () => filters.differences(new AbortController().signal);
  return { filters, differences, node: kernel.netns() };
};

it('has no difference where pods have their filters', async () => {
  const { filters, differences } = await plugged();
  const owners = ['pods:red/a'];
  expect(new Set(filters.desired())).toEqual(new Set([ETH0, UDN1].map((key) => ({ key, owners }))));
  expect(await differences()).toEqual([]);
});

it('says which link lacks its filter, or has another', async () => {
  const { differences, node } = await plugged();
  node.apply([{ op: 'filter.delete', link: UDN1.replace('frame-filter ', '') }]);
  node.loosenFilter(ETH0.replace('frame-filter ', ''));
  const found = await differences();
  expect(found.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
    {
      ...{ key: ETH0, kind: 'different', owners: ['pods:red/a'] },
      desired: expect.stringMatching(/^rules .*, policy drop; shared-\w+ whole; 0a:58:0a:80:00:04 locked$/),
      actual: expect.stringMatching(/^rules or policy changed; shared-\w+ whole; 0a:58:0a:80:00:04 locked$/),
    },
    { key: UDN1, kind: 'missing', owners: ['pods:red/a'], desired: expect.stringMatching(/^rules .*, policy drop; /) },
  ]);
});

it('finds nothing in the MAC of a pod that is gone', async () => {
  const { differences, node } = await plugged();
  node.lockMac(parseMac('0a:58:0a:80:00:09'));
  expect(await differences()).toEqual([]);
});
