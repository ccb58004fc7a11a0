import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { route } from '../../../datapath/netlink/route/types.ts';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { parseMoveRecord } from './move-record.ts';
import type { Uplink } from './uplink.ts';
import { ALL, BRIDGE, kindOf, newUplink, node, on, takeDefault } from './uplink-node.suite.ts';
import { bridgeOf, Crash, NIC, UplinkWorld } from './uplink-world.suite.ts';

const { signal } = new AbortController();

describe('a NIC', () => {
  it('becomes the port of a new bridge, which gets all it had; and it gets all back', async () => {
    const world = node();
    const before = world.dump();
    const uplink = newUplink(world);
    expect(kindOf(await uplink.settle(signal))).toBe('ready');
    expect([await on(world, BRIDGE), await on(world, NIC)]).toEqual([ALL, []]);
    expect(world.steps.map(({ kind }) => kind)).toEqual(['create', 'kernel', 'kernel', 'record']);
    world.steps.splice(0);
    expect(kindOf(await newUplink(world).settle(signal))).toBe('ready');
    expect(world.steps).toEqual([]);
    await uplink.giveBack(signal);
    await uplink.giveBack(signal);
    expect([world.bridges, world.dump()]).toEqual([[], before]);
  });

  it('is moved to the end wherever the process ended, and given back to the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(14), { maxLength: 6 }),
        fc.array(fc.nat(14), { maxLength: 6 }),
        async (ins, outs) => {
          const world = node();
          const before = world.dump();
          for (const changes of ins) await interrupted(world, changes, (uplink) => uplink.settle(signal));
          await newUplink(world).settle(signal);
          expect([await on(world, BRIDGE), await on(world, NIC)]).toEqual([ALL, []]);
          for (const changes of outs) await interrupted(world, changes, (uplink) => uplink.giveBack(signal));
          await newUplink(world).giveBack(signal);
          expect([world.bridges, world.dump()]).toEqual([[], before]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is moved in although the way out had begun', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(25), async (changes) => {
        const world = node();
        await newUplink(world).settle(signal);
        await interrupted(world, changes, (uplink) => uplink.giveBack(signal));
        await newUplink(world).settle(signal);
        expect([await on(world, BRIDGE), await on(world, NIC)]).toEqual([ALL, []]);
      }),
    );
  });

  it('never leaves the node without one of its addresses or without a default route', async () => {
    const world = node();
    const perform = world.perform.bind(world);
    const apply = world.apply.bind(world);
    world.apply = (op) => {
      apply(op);
      const own = world.kernel.netns();
      const addresses = own.addresses().map(({ address }) => address);
      expect(addresses).toEqual(expect.arrayContaining(ALL.slice(0, 3)));
      expect(own.routes({ family: 4 }).some(({ dst }) => dst === '0.0.0.0/0')).toBe(true);
    };
    world.perform = perform;
    await newUplink(world).settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
  });
});

const interrupted = async (
  world: UplinkWorld,
  changes: number,
  run: (uplink: Uplink) => Promise<unknown>,
): Promise<void> => {
  world.changesLeft = changes;
  await run(newUplink(world)).catch((error: unknown) => {
    if (!(error instanceof Crash)) throw error;
  });
  world.changesLeft = Number.POSITIVE_INFINITY;
};

describe('a bridge that was made', () => {
  it('follows who changes its addresses, and the NIC gets those in the end', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'address.delete', address: { link: BRIDGE, address: parseInterfaceAddress('172.20.0.12/24') } });
    world.address('172.20.0.99/24', BRIDGE);
    world.address('169.254.0.2/17', BRIDGE);
    await uplink.settle(signal);
    const { addresses } = parseMoveRecord(world.bridges[0]?.externalIds['ovn-udn/moved'] ?? '', BRIDGE);
    expect(addresses.map(({ address }) => address)).toEqual(['172.20.0.11/24', 'fd00:172:20::b/64', '172.20.0.99/24']);
    await uplink.giveBack(signal);
    expect((await on(world, NIC)).slice(0, 3)).toEqual(['172.20.0.11/24', 'fd00:172:20::b/64', '172.20.0.99/24']);
  });

  it('gets a default route back that somebody takes away, unless there is another one', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    const own = world.kernel.netns();
    const [gone] = own.routes({ family: 4 }).filter(({ dst }) => dst === '0.0.0.0/0');
    if (gone !== undefined) world.apply({ op: 'route.delete', route: gone });
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
    world.route('0.0.0.0/0', '172.20.0.4', { dev: BRIDGE, metric: 100 });
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toContain('0.0.0.0/0 172.20.0.4 254 100');
  });

  it('has everything again after its interface, or all of it, was deleted', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'link.delete', name: BRIDGE });
    expect(await uplink.settle(signal)).toMatchObject({ kind: 'waiting', what: expect.stringContaining(BRIDGE) });
    world.addLink(BRIDGE, parseMac('02:00:00:00:00:0b'));
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
    world.removeBridge(BRIDGE);
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
  });

  it('waits for its MAC, which a new interface gets a moment later', async () => {
    const world = node();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'link.delete', name: BRIDGE });
    world.addLink(BRIDGE, parseMac('02:00:00:00:00:77'));
    expect(await uplink.settle(signal)).toMatchObject({ kind: 'waiting', what: expect.stringContaining('MAC') });
    world.apply({ op: 'link.set', name: BRIDGE, change: { mac: parseMac('02:00:00:00:00:0b') } });
    await uplink.settle(signal);
    expect(await on(world, BRIDGE)).toEqual(ALL);
  });

  it('takes what the NIC has when the node has booted', async () => {
    const world = node();
    await newUplink(world).settle(signal);
    const [made] = world.bridges;
    const booted = new UplinkWorld().address('172.20.0.77/24').route('0.0.0.0/0', '172.20.0.1');
    booted.addLink(BRIDGE, parseMac('02:00:00:00:00:0b'));
    booted.bridges = made === undefined ? [] : [{ ...made, ports: made.ports.filter(({ name }) => name !== NIC) }];
    await newUplink(booted).settle(signal);
    expect(await on(booted, BRIDGE)).toEqual(['172.20.0.77/24', '0.0.0.0/0 172.20.0.1 254 0']);
    expect(booted.bridges[0]?.ports.map(({ name }) => name)).toContain(NIC);
  });
});

describe('a bridge that was there', () => {
  const adopted = (): UplinkWorld => {
    const world = new UplinkWorld();
    world.addLink('br-ex', parseMac('02:00:00:00:00:0c'));
    world.bridges = [bridgeOf('br-ex', NIC)];
    world.address('172.20.0.11/24', 'br-ex');
    world.apply({ op: 'link.set', name: 'br-ex', change: { up: true } });
    world.route('0.0.0.0/0', '172.20.0.1', { dev: 'br-ex' });
    return world;
  };

  it.each([undefined, 'br-ex', NIC])('is taken as it is, found by %s, and stays', async (name) => {
    const world = adopted();
    const before = world.dump();
    const uplink = newUplink(world, { interface: name });
    expect(await uplink.settle(signal)).toMatchObject({ kind: 'ready', memory: { bridge: 'br-ex', uplink: NIC } });
    await uplink.giveBack(signal);
    expect([world.steps, world.dump()]).toEqual([[], before]);
  });

  it('gets its addresses again when its interface comes back, and itself when somebody deletes it', async () => {
    const world = adopted();
    const uplink = newUplink(world);
    await uplink.settle(signal);
    world.apply({ op: 'link.delete', name: 'br-ex' });
    await uplink.settle(signal);
    world.addLink('br-ex', parseMac('02:00:00:00:00:0c'));
    await uplink.settle(signal);
    expect(await on(world, 'br-ex')).toEqual(['172.20.0.11/24', '0.0.0.0/0 172.20.0.1 254 0']);
    world.removeBridge('br-ex');
    await uplink.settle(signal);
    expect(await on(world, 'br-ex')).toEqual(['172.20.0.11/24', '0.0.0.0/0 172.20.0.1 254 0']);
    expect(world.bridges[0]?.externalIds['ovn-udn/moved']).toBeUndefined();
  });
});

describe('what cannot be a gateway bridge', () => {
  it.each([
    ['a-very-long-name', /no interface/],
    ['lo', /not an Ethernet interface|no interface/],
  ])('%s is reported', async (name, message) => {
    const state = await newUplink(node(), { interface: name }).settle(signal);
    expect(state.kind === 'absent' && state.error.message).toMatch(message);
  });

  it.each([[undefined], [NIC]])(
    'an interface with one of several next hops, found by %s, is reported and left',
    async (name) => {
      const world = node();
      takeDefault(world);
      const several = [
        { dev: NIC, via: parseIp('172.20.0.1') },
        { dev: NIC, via: parseIp('172.20.0.2') },
      ];
      world.apply({
        op: 'route.put',
        route: route({ dst: parseCidr('0.0.0.0/0'), protocol: 3, nextHops: several }),
      });
      const state = await newUplink(world, { interface: name }).settle(signal);
      expect(state).toMatchObject({ kind: 'absent', error: { code: 'ERR_UPLINK_LINK' } });
      expect(state.kind === 'absent' && state.error.message).toMatch(/eth0 cannot be moved .* several next hops/);
      expect([world.steps, world.bridges]).toEqual([[], []]);
    },
  );

  it('no default route is reported', async () => {
    const state = await newUplink(new UplinkWorld()).settle(signal);
    expect(state).toMatchObject({ kind: 'absent', error: { code: 'ERR_UPLINK_ABSENT' } });
  });
});
