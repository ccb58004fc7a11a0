import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../api/agent-status.ts';
import { FakeKernel } from '../../datapath/netlink/fake/fake-kernel.ts';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseMac } from '../../net/mac.ts';
import { podNetns } from './pod-netns.ts';

const MACS = ['0a:58:0a:80:00:03', '0a:58:0a:80:00:04', '0a:58:0a:64:00:03'] as const;

const attachment = (name: string, mac: string): PodStatus['attachments'][number] => ({
  network: 'n',
  nad: 'n',
  role: 'primary',
  interface: name,
  addresses: [],
  mac,
  port: 'p',
  installed: true,
});

const pod = (...attachments: PodStatus['attachments']): PodStatus => ({
  namespace: 'red',
  name: 'a',
  uid: 'u',
  attachments,
  state: 'ready',
});

/** Two tenants with the same address and MAC on their own networks, and what a process has that is no pod. */
const world = () => {
  const kernel = new FakeKernel();
  for (const [path, mac] of [
    ['/run/netns/blue', MACS[1]],
    ['/run/netns/red', MACS[0]],
  ] as const) {
    kernel.addNetns(path);
    const end = { mtu: 1400, group: 0 };
    for (const [name, own] of [
      ['eth0', mac],
      ['ovn-udn1', MACS[2]],
    ] as const) {
      const host = { ...end, name: `${path.slice(-3)}-${name}`.slice(0, 15), mac: parseMac('02:00:00:00:00:01') };
      const peer = { ...end, name, mac: parseMac(own), netns: path };
      expect(kernel.netns().apply([{ op: 'link.add', link: { kind: 'veth', ...host, peer } }])).toEqual([]);
    }
  }
  const address = { link: 'eth0', address: parseInterfaceAddress('10.128.0.3/23') };
  kernel.netns('/run/netns/red').apply([
    { op: 'link.set', name: 'eth0', change: { up: true } },
    { op: 'address.put', address },
  ]);
  return podNetns(kernel, () => ['/gone', '/run/netns/blue', '/run/netns/red']);
};

describe('the network namespace of a pod', () => {
  it('is the one that has all of its interfaces', () => {
    const inside = world().read(pod(attachment('eth0', MACS[0]), attachment('ovn-udn1', MACS[2])));
    expect(inside?.addresses.map(({ address }) => address)).toContain('10.128.0.3/23');
  });

  it('is unknown when none has them, and for a pod without interfaces', () => {
    expect(world().read(pod(attachment('eth0', '0a:58:0a:80:00:09')))).toBeUndefined();
    expect(world().read(pod())).toBeUndefined();
  });
});
