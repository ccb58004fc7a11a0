/** With a real kernel and a real Open vSwitch (userspace datapath). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { uplinkEffects } from './effects.ts';
import { RealNode } from './real-node.suite.ts';
import type { UplinkEffects } from './types.ts';
import { Uplink } from './uplink.ts';

let node: RealNode;
const { signal } = new AbortController();

beforeEach(async () => {
  node = await RealNode.create();
});
afterEach(() => node?.[Symbol.asyncDispose]());

class Crash extends Error {}

const effects = (): UplinkEffects =>
  uplinkEffects({ session: node.database.session, replica: node.database.replica, netlink: node.netlink });

/** As a process that ends after so many single changes. */
const ending = (changes: number): UplinkEffects => {
  const real = effects();
  let left = changes;
  const spend = (): void => {
    if (left-- <= 0) throw new Crash();
  };
  return {
    observe: real.observe,
    readBridges: real.readBridges,
    perform: async (step, world) => {
      const parts = step.kind === 'kernel' ? step.ops.map((op) => ({ kind: 'kernel', ops: [op] }) as const) : [step];
      for (const part of parts) {
        spend();
        await real.perform(part, world, signal);
      }
    },
  };
};

const newUplink = (through: UplinkEffects = effects()): Uplink =>
  new Uplink({ options: { interface: undefined }, masqueradeSubnets: [parseCidr('169.254.0.0/17')] }, through);

const settled = (uplink: Uplink): Promise<void> =>
  eventually(async () => {
    expect(await uplink.settle(signal)).toMatchObject({ kind: 'ready' });
  });

const ends = async (run: (uplink: Uplink) => Promise<unknown>, changes: number): Promise<void> => {
  const uplink = newUplink(ending(changes));
  // ovs-vswitchd takes its time to make the interface.
  await eventually(async () => {
    try {
      expect(await run(uplink)).toMatchObject({ kind: 'ready' });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  });
};

const configureNic = (): void => {
  for (const command of [
    'link set lo up',
    'link set eth0 up',
    'addr add 172.20.0.11/24 brd + dev eth0',
    'addr add 172.20.0.12/24 dev eth0',
    'addr add 172.20.1.11/24 dev eth0 noprefixroute metric 90',
    'addr add fd00:172:20::b/64 dev eth0 nodad',
    'route add 172.20.1.0/24 dev eth0 proto kernel src 172.20.1.11 metric 90',
    'route add 10.9.0.0/16 via 172.20.0.2 metric 50 src 172.20.0.12',
    'route add 10.7.0.0/16 via 172.20.0.3 table 700 proto static',
    'route add fd09::/48 via fd00:172:20::2 metric 77',
    'route add default via 172.20.0.1 dev eth0 proto dhcp metric 100',
    '-6 route add default via fd00:172:20::1 dev eth0 mtu 1400',
  ]) {
    node.ip(command);
  }
};

const bridgeIsGone = (): Promise<void> =>
  eventually(() => Promise.resolve(expect(node.ip('-o link')).not.toContain('breth0')));

describe('a NIC on a real kernel', () => {
  it('is moved and given back', async () => {
    configureNic();
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const before = node.dump();
    const uplink = newUplink();
    await settled(uplink);
    const there = node.dump();
    const renamed = (lines: readonly string[] = []): string[] => lines.map((line) => line.replaceAll('breth0', 'eth0'));
    const portable = (lines: readonly string[]): string[] =>
      renamed(lines)
        .filter((line) => !/fe80|ff00|anycast|^$/.test(line))
        .sort();
    expect(portable(there['routes4'] ?? [])).toEqual(portable(before['routes4'] ?? []));
    expect(portable(there['routes6'] ?? [])).toEqual(portable(before['routes6'] ?? []));
    expect(node.ip('-o addr show dev eth0')).not.toMatch(/172\.20|fd00/);
    expect(node.ip('-o addr show dev breth0')).toMatch(/172\.20\.0\.11\/24 brd 172\.20\.0\.255/);
    await settled(newUplink());
    expect(node.dump()).toEqual(there);
    await uplink.giveBack(signal);
    await bridgeIsGone();
    expect(node.dump()).toEqual(before);
    expect(await node.ovs('list-br')).toBe('');
  });

  it('ends up the same wherever the process ended, in and out', { timeout: 300_000 }, async () => {
    configureNic();
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const before = node.dump();
    let moved: unknown;
    for (let changes = 0; changes < 24; changes++) {
      await ends((uplink) => uplink.settle(signal), changes);
      await settled(newUplink());
      const { routes4 = [], routes6 = [] } = node.dump();
      // The link-local address comes a moment later.
      const now = [routes4, routes6.filter((line) => !/fe80::|ff00::/.test(line))];
      moved ??= now;
      expect(now, `in, after ${changes}`).toEqual(moved);
      await ends((uplink) => uplink.giveBack(signal), changes);
      await newUplink().giveBack(signal);
      await bridgeIsGone();
      expect(node.dump(), `out, after ${changes}`).toEqual(before);
    }
  });

  it('has its addresses again when ovs-vswitchd has lost them', async () => {
    configureNic();
    const uplink = newUplink();
    await settled(uplink);
    const there = node.ip('-4 route');
    await node.stopSwitch();
    node.ip('link del breth0');
    await node.startSwitch();
    await settled(newUplink());
    expect(node.ip('-4 route')).toBe(there);
    await node.ovs('del-br', 'breth0');
    await bridgeIsGone();
    await settled(uplink);
    expect(node.ip('-4 route')).toBe(there);
  });

  it('has everything again after its bridge was set down, and gives everything back while it is down', async () => {
    configureNic();
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const before = node.dump();
    const uplink = newUplink();
    await settled(uplink);
    await eventually(() => Promise.resolve(expect(node.ip('-6 addr')).not.toContain('tentative')));
    const state = () => {
      const { addresses, routes4, routes6 = [] } = node.dump();
      return [addresses, routes4, routes6.filter((line) => !/fe80::|ff00::|anycast/.test(line))];
    };
    const there = state();
    node.ip('link set breth0 down');
    expect(state()).not.toEqual(there);
    await settled(uplink);
    await eventually(() => Promise.resolve(expect(state()).toEqual(there)));
    node.ip('link set breth0 down');
    await newUplink().giveBack(signal);
    await bridgeIsGone();
    expect(node.dump()).toEqual(before);
  });

  it('stays where it is with a default route of several next hops, as the kernel reports them', async () => {
    configureNic();
    node.ip('route del default');
    node.ip('route add default nexthop via 172.20.0.1 dev eth0 nexthop via 172.20.0.2 dev eth0');
    const before = node.dump();
    const state = await newUplink().settle(signal);
    expect(state).toMatchObject({ kind: 'absent', error: { code: 'ERR_UPLINK_LINK' } });
    const several = state.world.host.routes.filter(({ nextHops }) => nextHops !== undefined);
    expect(several).toMatchObject([
      {
        dst: '0.0.0.0/0',
        nextHops: [
          { dev: 'eth0', via: '172.20.0.1' },
          { dev: 'eth0', via: '172.20.0.2' },
        ],
      },
    ]);
    expect(node.dump()).toEqual(before);
  });
});
