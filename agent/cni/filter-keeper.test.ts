import { describe, expect, it } from 'vitest';
import { sharedChain } from '../../datapath/netlink/frame-filter/types.ts';
import { parseMac } from '../../net/mac.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { SANDBOX, withTenant } from '../testing/cni-handler.ts';
import { FilterKeeper, lossIn } from './filter-keeper.ts';

const ETH0 = SANDBOX.slice(0, 15);
const UDN1 = `${SANDBOX.slice(0, 13)}_1`;

const plugged = async () => {
  const it = withTenant();
  await it.call('ADD', { pod: 'red/a' });
  const repaired: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const attachments: PodAttachments[] = [...it.cluster.sinks.attachments.values()];
  const keeper = new FilterKeeper({
    pods: () => attachments,
    ports: it.ports,
    interfaces: it.netlink.pods,
    clock: it.clock,
    onRepaired: (links) => repaired.push(links),
    onError: (error) => errors.push(error),
  });
  const links = async (): Promise<string[]> =>
    [...(await it.netlink.read({ filters: true })).filters.digests.keys()].toSorted();
  const lose = (op: Parameters<ReturnType<typeof it.kernel.netns>['apply']>[0][number]) =>
    it.kernel.netns().apply([op]);
  const monitor = async (line: string): Promise<void> => {
    keeper.onMonitored(line);
    await it.clock.advance(20);
  };
  return { ...it, attachments, keeper, repaired, errors, links, lose, monitor };
};

describe('the filters of a pod that is plugged', () => {
  it('are there from the start, and not put again', async () => {
    const { keeper, links, repaired } = await plugged();
    expect(await links()).toEqual([UDN1, ETH0]);
    await keeper.keepAll();
    expect(repaired).toEqual([]);
  });

  it('come to pods that were plugged without', async () => {
    const { keeper, links, lose, repaired } = await plugged();
    lose({ op: 'filters.clear' });
    await keeper.keepAll();
    expect([await links(), repaired]).toEqual([[UDN1, ETH0], [[ETH0, UDN1]]]);
  });

  it('are put back when one is deleted, and only that one', async () => {
    const { links, lose, monitor, repaired } = await plugged();
    lose({ op: 'filter.delete', link: UDN1 });
    await monitor(`delete chain netdev ovn-udn-ports to-${UDN1}`);
    expect([await links(), repaired]).toEqual([[UDN1, ETH0], [[UDN1]]]);
  });

  it('are put back when all are', async () => {
    const { lose, monitor, repaired } = await plugged();
    lose({ op: 'filters.clear' });
    await monitor('delete table netdev ovn-udn-ports');
    expect(repaired).toEqual([[ETH0, UDN1]]);
  });

  it('have the rules again that they share', async () => {
    const { kernel, monitor, repaired, netlink } = await plugged();
    kernel.netns().loseSharedRules();
    await monitor('delete rule netdev ovn-udn-ports shared-0123456789abcdef handle 7');
    const { shared } = (await netlink.read({ filters: true })).filters;
    expect([[...shared.values()], repaired]).toEqual([[true, true], [[ETH0, UDN1]]]);
  });

  it('come back with the MAC of a locked pod, not of others', async () => {
    const { lose, monitor, repaired, netlink } = await plugged();
    const { lockedMacs } = (await netlink.read({ filters: true })).filters;
    expect([...lockedMacs]).toEqual(['0a:58:0a:80:00:04']);
    const receiver = { mac: parseMac('0a:58:0a:80:00:04'), isLocked: false };
    lose({ op: 'filter.put', filter: { link: UDN1, shared: sharedChain([]), rules: [], receiver } });
    await monitor('delete element netdev ovn-udn-ports locked-pods { 0a:58:0a:80:00:05 }');
    expect(repaired).toEqual([]);
    await monitor('delete element netdev ovn-udn-ports locked-pods { 0a:58:0a:80:00:04 }');
    expect(repaired).toEqual([[ETH0, UDN1]]);
  });

  it('are compared every 15 seconds, whatever the events', async () => {
    const { keeper, kernel, clock, links, lose, repaired, errors } = await plugged();
    await keeper.keepAll();
    lose({ op: 'filter.delete', link: UDN1 });
    await clock.advance(15_000);
    expect([await links(), repaired]).toEqual([[UDN1, ETH0], [[UDN1]]]);
    kernel.netns().loosenFilter(ETH0);
    await clock.advance(15_000);
    await clock.advance(15_000);
    expect([repaired, errors]).toEqual([[[UDN1], [ETH0]], []]);
    keeper[Symbol.dispose]();
    lose({ op: 'filter.delete', link: UDN1 });
    await clock.advance(15_000);
    expect(await links()).toEqual([ETH0]);
  });

  it('drop again what none of their rules decides', async () => {
    const { kernel, monitor, repaired } = await plugged();
    kernel.netns().loosenFilter(ETH0);
    await monitor(`add chain netdev ovn-udn-ports to-${ETH0} { type filter hook egress priority 0; policy accept; }`);
    expect(repaired).toEqual([[ETH0]]);
  });

  it('know no other MAC as that of a locked pod, unless it may be one of a pod that is gone', async () => {
    const { attachments, keeper, kernel, clock, netlink } = await plugged();
    const gateway = parseMac('0a:58:0a:80:00:01');
    const known = async () => [...(await netlink.read({ filters: true })).filters.lockedMacs];
    await keeper.keepAll();
    kernel.netns().lockMac(gateway);
    const gone = attachments.splice(0);
    await clock.advance(15_000);
    expect(await known()).toEqual(['0a:58:0a:80:00:04', gateway]);
    attachments.push(...gone);
    await clock.advance(15_000);
    expect(await known()).toEqual(['0a:58:0a:80:00:04']);
  });

  it('go with the pod', async () => {
    const it = await plugged();
    await it.call('DEL', { pod: 'red/a' });
    await it.monitor(`delete chain netdev ovn-udn-ports to-${ETH0}`);
    expect([await it.links(), it.repaired, it.errors]).toEqual([[], [], []]);
  });
});

describe.each([
  ['delete table netdev ovn-udn-ports', { kind: 'all' }],
  ['delete set netdev ovn-udn-ports locked-pods', { kind: 'all' }],
  ['# ERROR: We lost some netlink events!', { kind: 'all' }],
  ['delete chain netdev ovn-udn-ports to-abc_1', { kind: 'link', link: 'abc_1' }],
  ['delete rule netdev ovn-udn-ports to-abc handle 7', { kind: 'link', link: 'abc' }],
  ['delete rule netdev ovn-udn-ports shared-abc handle 7', { kind: 'all' }],
  ['delete element netdev ovn-udn-ports locked-pods { 0a:58:0a:80:00:05 }', { kind: 'mac', mac: '0a:58:0a:80:00:05' }],
  ['add chain netdev ovn-udn-ports to-abc { policy accept; }', { kind: 'link', link: 'abc' }],
  ['add chain netdev ovn-udn-ports to-abc { policy drop; }', undefined],
  ['add rule netdev ovn-udn-ports to-abc accept', undefined],
  ['delete chain netdev another to-abc', undefined],
  ['delete table inet ovn-udn', undefined],
  ['# new generation 5 by process 470 (nft)', undefined],
])('%s', (line, loss) => {
  it('is understood', () => expect(lossIn(line)).toEqual(loss));
});
