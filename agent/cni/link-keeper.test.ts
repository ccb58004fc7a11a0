import { describe, expect, it } from 'vitest';
import { NetlinkError } from '../../datapath/netlink/errors.ts';
import { SANDBOX, withTenant } from '../testing/cni-handler.ts';
import { LinkKeeper } from './link-keeper.ts';

const ETH0 = SANDBOX.slice(0, 15);
const UDN1 = `${SANDBOX.slice(0, 13)}_1`;

const plugged = async () => {
  const it = withTenant();
  await it.call('ADD', { pod: 'red/a' });
  const raised: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const busy = new Set<string>();
  const keeper = new LinkKeeper({
    ports: it.ports,
    netlink: it.netlink,
    isBusy: (sandbox) => busy.has(sandbox),
    clock: it.clock,
    onRaised: (links) => raised.push(links),
    onError: (error) => errors.push(error),
  });
  const set = (name: string, up: boolean) => it.kernel.netns().apply([{ op: 'link.set', name, change: { up } }]);
  const down = (...names: string[]): void => {
    for (const name of names) set(name, false);
  };
  const links = it.kernel.netns().links.bind(it.kernel.netns());
  const up = (): string[] =>
    links()
      .filter((link) => link.up && [ETH0, UDN1].includes(link.name))
      .map(({ name }) => name);
  return { ...it, keeper, raised, errors, busy, down, up };
};

describe('the node’s ends of a pod that is plugged', () => {
  it('are set up again when something sets them down, together', async () => {
    const { keeper, down, up, raised, clock } = await plugged();
    await keeper.start();
    down(ETH0, UDN1);
    await clock.advance(20);
    expect([up().toSorted(), raised]).toEqual([[UDN1, ETH0].toSorted(), [[ETH0, UDN1]]]);
  });

  it('are set up when they were down at the start, and when events were lost', async () => {
    const { keeper, down, up, raised, clock, kernel } = await plugged();
    down(UDN1);
    await keeper.start();
    await clock.advance(20);
    expect([up(), raised]).toEqual([[ETH0, UDN1], [[UDN1]]]);
    kernel.loseEvents();
    await clock.advance(2_000);
    expect(raised).toHaveLength(1);
  });

  it('stay down while a CNI call is under way, and are set up after it', async () => {
    const { keeper, down, raised, busy, clock } = await plugged();
    await keeper.start();
    busy.add(SANDBOX);
    down(UDN1);
    await clock.advance(5_000);
    expect(raised).toEqual([]);
    busy.clear();
    await clock.advance(1_000);
    expect(raised).toEqual([[UDN1]]);
  });

  it('are set up once in a second where another program sets them down again and again', async () => {
    const { keeper, down, raised, clock } = await plugged();
    await keeper.start();
    down(UDN1);
    await clock.advance(20);
    down(UDN1);
    await clock.advance(900);
    expect(raised).toHaveLength(1);
    await clock.advance(100);
    expect(raised).toHaveLength(2);
  });

  it('are left alone when they go, or are no port', async () => {
    const { keeper, down, raised, errors, clock, kernel, ports } = await plugged();
    await keeper.start();
    down(UDN1);
    kernel.netns().apply([{ op: 'link.delete', name: UDN1 }]);
    await ports.unplug([ETH0]);
    down(ETH0);
    await clock.advance(2_000);
    expect([raised, errors]).toEqual([[], []]);
  });

  it('are reported when the kernel refuses, and tried again, the others at once', async () => {
    const { keeper, down, up, errors, raised, clock, netlink } = await plugged();
    await keeper.start();
    const { raise } = netlink.pods;
    netlink.pods.raise = (names) =>
      names.includes(UDN1) ? Promise.reject(new NetlinkError('EPERM', '')) : raise(names);
    down(UDN1, ETH0);
    await clock.advance(20);
    expect([errors, raised]).toEqual([[expect.objectContaining({ code: 'EPERM' })], [[ETH0]]]);
    netlink.pods.raise = raise;
    await clock.advance(1_000);
    expect(up()).toHaveLength(2);
  });

  it('are nobody’s business after the end', async () => {
    const { keeper, down, raised, clock } = await plugged();
    await keeper.start();
    keeper[Symbol.dispose]();
    down(UDN1);
    await clock.advance(2_000);
    expect(raised).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('are not repaired again when the end comes while the kernel refuses a repair', async () => {
    const { keeper, down, errors, clock, netlink } = await plugged();
    await keeper.start();
    const repair = Promise.withResolvers<void>();
    netlink.pods.raise = () => repair.promise;
    down(UDN1);
    await clock.advance(20);
    keeper[Symbol.dispose]();
    repair.reject(new NetlinkError('EPERM', ''));
    await clock.advance(2_000);
    expect([errors.length, clock.pending]).toEqual([1, 0]);
  });
});
