/** What comes back to a bridge that was made, and what is somebody's wish. */
import { describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import type { Uplink } from './uplink.ts';
import { ALL, BRIDGE, kindOf, newUplink, node, on, takeDefault } from './uplink-node.suite.ts';
import type { UplinkWorld } from './uplink-world.suite.ts';

const { signal } = new AbortController();

describe('a bridge that was made', () => {
  /** A second way out, on a link that is no part of the gateway. */
  const withOther = async (world: UplinkWorld): Promise<Uplink> => {
    world.addLink('eth1', parseMac('02:00:00:00:00:0e'));
    world.apply({ op: 'link.set', name: 'eth1', change: { up: true } });
    world.address('10.99.0.5/24', 'eth1');
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.steps.splice(0);
    return uplink;
  };

  const OTHER = '0.0.0.0/0 10.99.0.1 254 100';

  it('leaves the default route to another link that somebody gives it', async () => {
    const world = node();
    const uplink = await withOther(world);
    world.route('0.0.0.0/0', '10.99.0.1', { dev: 'eth1', metric: 100 });
    for (let events = 0; events < 3; events++) await uplink.settle(signal);
    expect(await on(world, 'eth1')).toContain(OTHER);
    expect(world.steps.map(({ kind }) => kind)).toEqual(['record']);
  });

  it('leaves it there, too, after its own interface was down or another one', async () => {
    for (const interrupt of [
      (world: UplinkWorld) => world.apply({ op: 'link.set', name: BRIDGE, change: { up: false } }),
      (world: UplinkWorld) => world.removeBridge(BRIDGE),
    ]) {
      const world = node();
      const uplink = await withOther(world);
      interrupt(world);
      world.route('0.0.0.0/0', '10.99.0.1', { dev: 'eth1', metric: 100 });
      for (let events = 0; events < 3; events++) expect(kindOf(await uplink.settle(signal))).toBe('ready');
      expect(await on(world, 'eth1')).toContain(OTHER);
      expect(await on(world, BRIDGE)).toEqual(ALL.filter((line) => !line.startsWith('0.0.0.0/0')));
    }
  });

  it('leaves what a routing daemon has withdrawn', async () => {
    const world = node();
    world.route('0.0.0.0/0', '172.20.0.1', { metric: 100, protocol: 186 });
    const uplink = newUplink(world);
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
    takeDefault(world);
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL.filter((line) => !line.startsWith('0.0.0.0/0')));
  });

  it('does not ask for a default route from an address that is gone', async () => {
    const world = node();
    world.route('0.0.0.0/0', '172.20.0.1', { metric: 100, src: parseIp('172.20.0.12') });
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'address.delete', address: { link: BRIDGE, address: parseInterfaceAddress('172.20.0.12/24') } });
    expect(kindOf(await uplink.settle(signal))).toBe('ready');
    expect(await on(world, BRIDGE)).toEqual(ALL.filter((line) => !/^0.0.0.0|^172.20.0.12/.test(line)));
  });

  it('takes the default route that somebody gives its NIC in place of its own', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.route('0.0.0.0/0', '172.20.0.9', { metric: 100, onlink: true });
    expect(kindOf(await uplink.settle(signal))).toBe('ready');
    expect(await on(world, BRIDGE)).toEqual(
      ALL.map((line) => line.replace('172.20.0.1 254 100', '172.20.0.9 254 100')),
    );
  });

  describe('whose interface was down', () => {
    const set = (world: UplinkWorld, up: boolean): void =>
      world.apply({ op: 'link.set', name: BRIDGE, change: { up } });

    it('is up again, with what the kernel took', async () => {
      const world = node();
      const uplink = newUplink(world);
      await uplink.settle(signal);
      set(world, false);
      expect(await on(world, BRIDGE)).toEqual(ALL.slice(0, 2));
      expect(kindOf(await uplink.settle(signal))).toBe('ready');
      expect(await on(world, BRIDGE)).toEqual(ALL);
    });

    it('is up again in a new process', async () => {
      const world = node();
      await newUplink(world).settle(signal);
      set(world, false);
      await newUplink(world).settle(signal);
      expect(await on(world, BRIDGE)).toEqual(ALL);
    });

    it('has everything again where it was up before anybody looked', async () => {
      const world = node();
      const uplink = newUplink(world);
      await uplink.settle(signal);
      set(world, false);
      set(world, true);
      uplink.noteDown(BRIDGE);
      await uplink.settle(signal);
      expect(await on(world, BRIDGE)).toEqual(ALL);
      world.apply({
        op: 'address.delete',
        address: { link: BRIDGE, address: parseInterfaceAddress('fd00:172:20::b/64') },
      });
      await uplink.settle(signal);
      expect(await on(world, BRIDGE)).not.toContain('fd00:172:20::b/64');
    });

    it('loses the IPv4 address that somebody took meanwhile, and what was from it', async () => {
      const world = node();
      const uplink = newUplink(world);
      await uplink.settle(signal);
      set(world, false);
      world.apply({
        op: 'address.delete',
        address: { link: BRIDGE, address: parseInterfaceAddress('172.20.0.12/24') },
      });
      await uplink.settle(signal);
      expect(await on(world, BRIDGE)).toEqual(ALL.filter((line) => line !== '172.20.0.12/24'));
    });

    it('gives the NIC everything', async () => {
      const world = node();
      const before = world.dump();
      await newUplink(world).settle(signal);
      set(world, false);
      await newUplink(world).giveBack(signal);
      expect([world.bridges, world.dump()]).toEqual([[], before]);
    });
  });

  it('has everything again where its new interface got an address before anybody looked', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'link.delete', name: BRIDGE });
    world.addLink(BRIDGE, parseMac('02:00:00:00:00:0b'));
    world.address('172.20.0.50/24', BRIDGE);
    await uplink.settle(signal);
    expect((await on(world, BRIDGE)).toSorted()).toEqual([...ALL, '172.20.0.50/24'].toSorted());
  });
});
