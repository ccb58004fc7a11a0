/** What the interfaces of pods are like, whatever was there before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { POD_LINK_GROUP } from '../../../api/pod-links.ts';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { PodInterfaceError } from '../errors.ts';
import type { Harness } from '../harness.suite.ts';
import { route } from '../route/types.ts';
import { hostEndMac } from './marks.ts';
import { addressesIn, firstOf, linkIn, namesIn, pairOf, routesIn, stateOf } from './pod-state.suite.ts';
import { type PodWorld, podWorld } from './pod-world.suite.ts';
import { anyDisturbances, anyPod } from './random-pods.suite.ts';
import { removalCases } from './removal.suite.ts';
import { repairCases } from './repair.suite.ts';

export const podInterfaceSuite = (name: string, open: () => Promise<Harness>): void => {
  describe(`${name} under the interfaces of pods`, () => {
    const world = podWorld(open);
    newPodCases(world);
    specialPodCases(world);
    repairCases(world);
    refusalCases(world);
    removalCases(world);
    checkCases(world);
    randomCases(world);
  });
};

const newPodCases = ({ netlink, dualStackPod, look }: PodWorld): void => {
  it('makes a pod with all that it needs', async () => {
    const desired = dualStackPod();
    expect(await netlink().pods.ensure(desired)).toBe('created');
    const { node, pod } = await look(desired);
    for (const { name, hostName, mac, mtu, alias } of desired.interfaces) {
      const end = { kind: 'veth', up: true, carrier: true, mtu, group: POD_LINK_GROUP };
      expect(linkIn(node, hostName)).toMatchObject({ ...end, mac: hostEndMac(mac), alias, addrGenMode: 'none' });
      expect(linkIn(pod, name)).toMatchObject({ ...end, mac, addrGenMode: 'eui64' });
      expect(linkIn(pod, name)?.peer?.index).toBe(linkIn(node, hostName)?.index);
      expect(node.addresses.filter(({ link }) => link === hostName)).toEqual([]);
    }
    expect(linkIn(pod, 'lo')?.up).toBe(true);
    const addresses = [
      'eth0 10.128.1.3/24 valid',
      'eth0 fd00:10:128:1::3/64 valid',
      'eth0 fe80::858:aff:fe80:103/64 link',
      'ovn-udn1 192.168.1.3/24 valid',
      'ovn-udn1 fd00:20::3/64 valid',
      'ovn-udn1 fe80::858:c0ff:fea8:103/64 link',
    ];
    expect(addressesIn(pod)).toEqual(expect.arrayContaining(addresses.filter((one) => one.endsWith(' valid'))));
    // The kernel adds the link-local ones when its link watch has seen the carrier, which is within a second or so.
    await eventually(async () => expect(addressesIn((await look(desired)).pod)).toEqual(addresses));
    expect(routesIn(pod)).toEqual([
      '0.0.0.0/0 via 192.168.1.1 dev ovn-udn1 mtu 1280',
      '10.128.0.0/14 via 10.128.1.1 dev eth0',
      '169.254.0.0/17 dev eth0',
      '172.16.1.0/24 via 192.168.1.1 dev ovn-udn1 mtu 1290',
      '::/0 via fe80::858:c0ff:fea8:101 dev ovn-udn1 mtu 1280',
      'fd00:10:128::/48 via fd00:10:128:1::1 dev eth0',
      'fd02::/112 via fd00:20::1 dev ovn-udn1',
    ]);
    expect([...pod.sysctls.values()]).toEqual(['0', '0', '0', '0', '0', '0']);
  });

  it("reports when the node's ends are there, while it goes on with the pod's", async () => {
    const seen: string[] = [];
    seen.push(await netlink().pods.ensure(dualStackPod(), undefined, () => seen.push('linked')));
    expect(seen).toEqual(['linked', 'created']);
  });

  it('changes nothing when all is as desired', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const before = await look(desired);
    expect(await netlink().pods.ensure(desired)).toBe('unchanged');
    const after = await look(desired);
    expect(stateOf(desired, after)).toEqual(stateOf(desired, before));
    expect(after.pod.links.map(({ index }) => index)).toEqual(before.pod.links.map(({ index }) => index));
  });
};

const specialPodCases = ({ netlink, dualStackPod, look, newNetns }: PodWorld): void => {
  it.each([
    ['IPv4', ['10.128.1.3/24'], '1'],
    ['IPv6', ['fd00:10:128:1::3/64'], '0'],
    ['none', [], '1'],
  ])('turns IPv6 on only where there is an address of it: %s', async (_, addresses, disabled) => {
    const { netns, interfaces } = dualStackPod();
    const desired = {
      netns,
      interfaces: interfaces
        .slice(0, 1)
        .map((one) => ({ ...one, addresses: addresses.map(parseInterfaceAddress), routes: [] })),
    };
    expect(await netlink().pods.ensure(desired)).toBe('created');
    expect(await netlink().pods.check(desired)).toEqual([]);
    await netlink().apply({ netns, ops: [{ op: 'sysctl.set', key: 'ipv6/conf/eth0/disable_ipv6', value: '1' }] });
    expect(await netlink().pods.ensure(desired)).toBe(disabled === '1' ? 'unchanged' : 'repaired');
    expect((await look(desired)).pod.sysctls.get('ipv6/conf/eth0/disable_ipv6')).toBe(disabled);
    expect((await look(desired)).pod.sysctls.get('ipv6/conf/eth0/accept_ra')).toBe('0');
  });

  it('reaches a gateway outside of the pod’s networks', async () => {
    const { netns, interfaces } = dualStackPod();
    const desired = {
      netns,
      interfaces: interfaces.slice(0, 1).map((one) => ({
        ...one,
        addresses: ['10.128.1.3/32', 'fd00:10:128:1::3/128'].map(parseInterfaceAddress),
        routes: [],
        defaultGateways: ['169.254.1.1', 'fd77::1'].map(parseIp),
      })),
    };
    expect(await netlink().pods.ensure(desired)).toBe('created');
    expect(await netlink().pods.ensure(desired)).toBe('unchanged');
    expect(routesIn((await look(desired)).pod)).toEqual([
      '0.0.0.0/0 via 169.254.1.1 dev eth0 onlink',
      '::/0 via fd77::1 dev eth0 onlink',
    ]);
  });

  it('makes pods of the same names and addresses beside each other', async () => {
    const first = dualStackPod();
    const second = {
      netns: await newNetns(),
      interfaces: first.interfaces.map((one) => ({ ...one, hostName: `${one.hostName}b`, alias: `${one.alias}b` })),
    };
    expect(await Promise.all([first, second].map((desired) => netlink().pods.ensure(desired)))).toEqual([
      'created',
      'created',
    ]);
    expect(await netlink().pods.check(first)).toEqual([]);
    expect(await netlink().pods.check(second)).toEqual([]);
  });
};

const refusalCases = ({ netlink, dualStackPod, look, disturb, newNetns }: PodWorld): void => {
  it('does not touch a link of somebody else on the node', async () => {
    const desired = dualStackPod();
    const first = firstOf(desired);
    await disturb(undefined, pairOf(first, await newNetns(), 0));
    await expect(netlink().pods.ensure(desired)).rejects.toMatchObject({
      code: 'ERR_POD_LINK_FOREIGN',
      message: expect.stringContaining(`host interface ${first.hostName} exists and is foreign`),
    });
    await expect(netlink().pods.check(desired)).resolves.toEqual([expect.stringContaining('is foreign')]);
    const { node, pod } = await look(desired);
    expect(linkIn(node, first.hostName)?.group).toBe(0);
    expect(namesIn(pod)).toEqual(['lo']);
  });

  it('does not touch a link of somebody else in the pod, and leaves nothing of its own', async () => {
    const desired = dualStackPod();
    const other = { ...firstOf(desired), hostName: 'foreign', name: 'ovn-udn1' };
    await disturb(undefined, pairOf(other, desired.netns, 0));
    await expect(netlink().pods.ensure(desired)).rejects.toMatchObject({ code: 'ERR_POD_LINK_FOREIGN' });
    const { node, pod } = await look(desired);
    expect(namesIn(pod)).toEqual(['lo', 'ovn-udn1']);
    expect(desired.interfaces.map(({ hostName }) => linkIn(node, hostName))).toEqual([undefined, undefined]);
    await disturb(undefined, { op: 'link.delete', name: 'foreign' });
  });

  it('does not take a link away from another pod', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const thief = {
      netns: await newNetns(),
      interfaces: desired.interfaces.map((one) => ({ ...one, alias: 'ovn-udn:test/thief' })),
    };
    await expect(netlink().pods.ensure(thief)).rejects.toMatchObject({
      code: 'ERR_POD_LINK_FOREIGN',
      message: expect.stringContaining(`already belongs to "${firstOf(desired).alias}"`),
    });
    expect(await netlink().pods.check(desired)).toEqual([]);
  });

  it('leaves nothing behind when the kernel refuses', async () => {
    const desired = dualStackPod();
    // IPv6 takes no own address for a gateway.
    const broken = {
      ...desired,
      interfaces: desired.interfaces.map((one) => ({ ...one, defaultGateways: [parseIp('fd00:20::3')] })),
    };
    const bad = { ...broken, interfaces: broken.interfaces.slice(1) };
    await expect(netlink().pods.ensure(bad)).rejects.toMatchObject({
      code: 'ERR_POD_INTERFACE_SETUP',
      message: expect.stringContaining('put route ::/0'),
      cause: { code: 'EINVAL' },
    });
    const { node, pod } = await look(bad);
    expect(namesIn(pod)).toEqual(['lo']);
    expect(linkIn(node, firstOf(bad).hostName)).toBeUndefined();
    expect(await netlink().pods.ensure(desired)).toBe('created');
  });

  it('needs a namespace', async () => {
    const desired = { ...dualStackPod(), netns: '/run/netns/absent' };
    await expect(netlink().pods.ensure(desired)).rejects.toMatchObject({ code: 'ERR_POD_NETNS' });
    expect(await netlink().pods.check(desired)).toEqual([expect.stringContaining('is not a network namespace')]);
  });

  it('refuses what contradicts itself', async () => {
    const desired = dualStackPod();
    const twice = { ...desired, interfaces: [...desired.interfaces, ...desired.interfaces] };
    await expect(netlink().pods.ensure(twice)).rejects.toMatchObject({ code: 'ERR_POD_INTERFACE_INVALID' });
    await expect(netlink().pods.check(twice)).rejects.toMatchObject({ code: 'ERR_POD_INTERFACE_INVALID' });
  });
};

const checkCases = ({ netlink, dualStackPod, disturb }: PodWorld): void => {
  it('says in words what differs', async () => {
    const desired = dualStackPod();
    expect(await netlink().pods.check(desired)).toEqual([
      `eth0 is missing, or is not the other end of ${firstOf(desired).hostName}`,
      `ovn-udn1 is missing, or is not the other end of ${desired.interfaces[1]?.hostName}`,
      'lo should have up true',
    ]);
    await netlink().pods.ensure(desired);
    expect(await netlink().pods.check(desired)).toEqual([]);
    await disturb(
      desired.netns,
      { op: 'link.set', name: 'eth0', change: { mtu: 1500 } },
      { op: 'address.delete', address: { link: 'ovn-udn1', address: parseInterfaceAddress('fd00:20::3/64') } },
      {
        op: 'route.delete',
        route: route({ dst: parseCidr('10.128.0.0/14'), dev: 'eth0', via: parseIp('10.128.1.1') }),
      },
      { op: 'link.txChecksum', name: 'ovn-udn1', on: true },
    );
    expect(await netlink().pods.check(desired)).toEqual(
      expect.arrayContaining([
        'eth0 should have mtu 1400',
        'eth0 should have a route to 10.128.0.0/14 via 10.128.1.1',
        'ovn-udn1 should have checksum offload off',
        'ovn-udn1 should have address fd00:20::3/64',
      ]),
    );
  });

  it('has nothing against more than was wanted', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    await disturb(
      desired.netns,
      { op: 'address.put', address: { link: 'eth0', address: parseInterfaceAddress('fd77::4/64') } },
      { op: 'route.put', route: route({ dst: parseCidr('fd78::/64'), dev: 'eth0' }) },
    );
    expect(await netlink().pods.check(desired)).toEqual([]);
  });
};

/** One pod goes through all of it, so that each step meets what the steps before have left. */
const randomCases = ({ netlink, newNetns }: PodWorld): void => {
  it('converges from whatever was there', async () => {
    const netns = await newNetns();
    const step = fc.tuple(anyPod(netns), anyDisturbances);
    let repaired = 0;
    const property = fc.asyncProperty(step, async ([pod, disturbances]) => {
      for (const { where, op } of disturbances)
        await netlink().apply({ ...(where === 'pod' ? { netns } : {}), ops: [op] });
      const outcome = await netlink()
        .pods.ensure(pod)
        .catch((error: unknown) => error);
      if (outcome instanceof PodInterfaceError && outcome.code === 'ERR_POD_LINK_FOREIGN') return;
      if (outcome === 'repaired') repaired++;
      expect(outcome).toMatch(/created|repaired|unchanged/);
      expect(await netlink().pods.check(pod)).toEqual([]);
      expect(await netlink().pods.ensure(pod)).toBe('unchanged');
    });
    await fc.assert(property, { numRuns: 60, endOnFailure: true });
    expect(repaired).toBeGreaterThan(5);
  });
};
