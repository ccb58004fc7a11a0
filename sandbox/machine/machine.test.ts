import { describe, expect, it } from 'vitest';
import { unifiedHierarchy } from './cgroups.ts';
import { datapathOf } from './features.ts';
import { parseLinkEvent } from './gateway-bridge.ts';

describe('unifiedHierarchy', () => {
  it.each([
    ['alone', 'proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n', '/sys/fs/cgroup'],
    [
      'beside version 1',
      'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\nc /sys/fs/cgroup/unified cgroup2 rw 0 0\n',
      '/sys/fs/cgroup/unified',
    ],
    ['with a space in its path', 'cgroup2 /mnt/my\\040cgroups cgroup2 rw 0 0\n', '/mnt/my cgroups'],
  ])('%s', (_, mounts, path) => expect(unifiedHierarchy(mounts)).toBe(path));

  it('is required', () => {
    expect(() => unifiedHierarchy('cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n')).toThrow(
      expect.objectContaining({ code: 'ERR_SANDBOX_MACHINE' }),
    );
  });
});

it.each([
  [true, true, 'system'],
  [true, false, 'netdev'],
  [false, true, 'netdev'],
] as const)('openvswitch %s and geneve %s: %s', (openvswitch, geneve, datapath) => {
  expect(datapathOf({ openvswitch, geneve, vrf: true, sctp: false })).toBe(datapath);
});

it.each([
  ['5: br-ex: <BROADCAST,MULTICAST,UP> mtu 1500 state UNKNOWN', { index: 5, name: 'br-ex', isDeleted: false }],
  ['Deleted 5: br-ex: <BROADCAST> mtu 1500', { index: 5, name: 'br-ex', isDeleted: true }],
  ['12: eth0@if4: <UP> mtu 1500', { index: 12, name: 'eth0', isDeleted: false }],
  ['    link/ether 02:00:00:00:00:01', undefined],
  ['', undefined],
])('parseLinkEvent(%j)', (line, event) => expect(parseLinkEvent(line)).toEqual(event));
